package telemetry

import (
	"github.com/prometheus/client_golang/prometheus"

	pb "penstock.dev/penstock/proto/gen/penstock/v1"
)

// spillSamples are the metrics of the spill disk; all are 0 while it is off.
func spillSamples() []sample {
	type status = *pb.GetStatusResponse
	list := []sample{
		gauge(MetricSpillUsed, "Spill files and writes under way.", func(s status) uint64 { return s.GetSpill().GetUsedBytes() }),
		gauge(MetricSpillQuota, "Limit of all spill files.", func(s status) uint64 { return s.GetSpill().GetQuotaBytes() }),
		gauge(MetricSpillFiles, "Spill files now.", func(s status) uint64 { return uint64(s.GetSpill().GetFiles()) }),
		gauge(MetricSpillBatches, "Batches on the disk now.", func(s status) uint64 { return uint64(s.GetSpill().GetBatches()) }),
		gauge(MetricSpillReadBack, "Memory into which batches are read back.",
			func(s status) uint64 { return s.GetSpill().GetReadBackBytes() }),
	}
	list = append(list, family(prometheus.CounterValue, MetricSpillMoved, "Batches that went to the disk and came back.", LabelDirection,
		map[string]func(status) uint64{
			"written": func(s status) uint64 { return s.GetSpill().GetBatchesWritten() },
			"read":    func(s status) uint64 { return s.GetSpill().GetBatchesRead() },
		})...)
	list = append(list, family(prometheus.CounterValue, MetricSpillMovedBytes, "Bytes that went to the disk and came back.", LabelDirection,
		map[string]func(status) uint64{
			"written": func(s status) uint64 { return s.GetSpill().GetBytesWritten() },
			"read":    func(s status) uint64 { return s.GetSpill().GetBytesRead() },
		})...)
	return append(list, family(prometheus.CounterValue, MetricSpillFailures,
		"Batches that the disk refused (write), that did not fit (refused), or that were lost (read).", LabelReason,
		map[string]func(status) uint64{
			"write":   func(s status) uint64 { return s.GetSpill().GetWriteFailures() },
			"refused": func(s status) uint64 { return s.GetSpill().GetRefused() },
			"read":    func(s status) uint64 { return s.GetSpill().GetReadFailures() },
		})...)
}
