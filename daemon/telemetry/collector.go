package telemetry

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	pb "penstock.dev/penstock/proto/gen/penstock/v1"
)

// Collector turns the status snapshot into metrics, so that `penstockd status` and Prometheus can never disagree.
type Collector struct {
	status   func() *pb.GetStatusResponse
	counters *Counters
}

// NewCollector reads status and counters at every scrape. status must be safe for concurrent use.
func NewCollector(status func() *pb.GetStatusResponse, counters *Counters) *Collector {
	return &Collector{status: status, counters: counters}
}

// sample is one metric of a snapshot: a constant name and help text, an optional label, and how to read the value.
type sample struct {
	desc  *prometheus.Desc
	kind  prometheus.ValueType
	label string
	value func(*pb.GetStatusResponse, *Counters) float64
}

func gauge(name, help string, value func(*pb.GetStatusResponse) uint64) sample {
	return sample{prometheus.NewDesc(name, help, nil, nil), prometheus.GaugeValue, "",
		func(s *pb.GetStatusResponse, _ *Counters) float64 { return float64(value(s)) }}
}

func counter(name, help string, value func(*pb.CounterStatus) uint64) sample {
	return sample{prometheus.NewDesc(name, help, nil, nil), prometheus.CounterValue, "",
		func(s *pb.GetStatusResponse, _ *Counters) float64 { return float64(value(s.GetCounters())) }}
}

func seconds(name, help string, nanos func(*Counters) uint64) sample {
	return sample{prometheus.NewDesc(name, help, nil, nil), prometheus.CounterValue, "",
		func(_ *pb.GetStatusResponse, c *Counters) float64 {
			return float64(nanos(c)) / float64(time.Second)
		}}
}

func total(name, help string, value func(*Counters) uint64) sample {
	return sample{prometheus.NewDesc(name, help, nil, nil), prometheus.CounterValue, "",
		func(_ *pb.GetStatusResponse, c *Counters) float64 { return float64(value(c)) }}
}

// family makes one sample for each value of the label.
func family(kind prometheus.ValueType, name, help, label string, values map[string]func(*pb.GetStatusResponse) uint64) []sample {
	desc := prometheus.NewDesc(name, help, []string{label}, nil)
	var out []sample
	for of, value := range values {
		out = append(out, sample{desc, kind, of,
			func(s *pb.GetStatusResponse, _ *Counters) float64 { return float64(value(s)) }})
	}
	return out
}

func sumSessions(s *pb.GetStatusResponse, of func(*pb.SessionStatus) uint32) uint64 {
	var sum uint64
	for _, x := range s.GetSessions() {
		sum += uint64(of(x))
	}
	return sum
}

var samples = allSamples()

func allSamples() []sample {
	type status = *pb.GetStatusResponse
	list := []sample{
		gauge(MetricUp, "1 while new sessions are accepted.", func(s status) uint64 {
			if s.GetServing() {
				return 1
			}
			return 0
		}),
		gauge(MetricSessions, "Sessions (TaskManagers) now.", func(s status) uint64 { return uint64(len(s.GetSessions())) }),
		gauge(MetricWriters, "Sink writers now.", func(s status) uint64 { return uint64(len(s.GetWriters())) }),
		gauge(MetricProducers, "Kafka producers now, whatever their state.", status.GetProducers),
		gauge(MetricLeases, "Data segments leased now.", func(s status) uint64 {
			return sumSessions(s, (*pb.SessionStatus).GetLeasedSegments)
		}),
		gauge(MetricArenaCapacity, "Limit of all shared memory.", func(s status) uint64 { return s.GetMemory().GetCapacityBytes() }),
		gauge(MetricArenaLeased, "Shared memory leased to sessions.", func(s status) uint64 { return s.GetMemory().GetLeasedBytes() }),
		gauge(MetricArenaWarm, "Shared memory populated and ready to lease.", func(s status) uint64 { return s.GetMemory().GetWarmBytes() }),
		gauge(MetricArenaKernel, "What the kernel says the segments occupy.", func(s status) uint64 { return s.GetMemory().GetKernelBytes() }),
		gauge(MetricArenaTables, "Handle tables.", func(s status) uint64 { return s.GetMemory().GetTableBytes() }),
		gauge(MetricArenaParked, "Batches that wait in shared memory.", func(s status) uint64 { return s.GetMemory().GetParkedBytes() }),
		gauge(MetricArenaPinned, "Batches that are being read.", func(s status) uint64 { return s.GetMemory().GetPinnedBytes() }),
		gauge(MetricArenaOrphan, "Segments whose lease is over while a client still maps them.",
			func(s status) uint64 { return s.GetMemory().GetOrphanBytes() }),
		gauge(MetricSpilled, "Batches on disk.", func(s status) uint64 { return s.GetMemory().GetSpilledBytes() }),
		gauge(MetricMemoryDifference, "By how much ledger, segments and kernel last disagreed.",
			func(s status) uint64 { return s.GetMemory().GetDifferenceBytes() }),
		counter(MetricSessionsOpened, "Sessions opened.", (*pb.CounterStatus).GetSessionsOpened),
		counter(MetricSessionsRefused, "Connections and sessions refused.", (*pb.CounterStatus).GetSessionsRefused),
		total(MetricProcessesEnded, "Sessions that ended because the process of the client did.",
			func(c *Counters) uint64 { return c.ProcessesEnded.Load() }),
		total(MetricPressed, "Requests to sessions for segments that they do not use.", func(c *Counters) uint64 { return c.Pressed.Load() }),
		counter(MetricBatches, "Batches produced.", (*pb.CounterStatus).GetBatches),
		counter(MetricRows, "Rows produced.", (*pb.CounterStatus).GetRows),
		counter(MetricBatchesPaced, "Batches that waited so that no more is in flight than the broker takes in writer.in_flight_time.",
			(*pb.CounterStatus).GetBatchesPaced),
		counter(MetricLineAnswers, "Seals and flushes that were asked and answered on a line of the task's own thread.",
			(*pb.CounterStatus).GetLineAnswers),
		counter(MetricEncodedBytes, "Bytes of encoded record values.", (*pb.CounterStatus).GetEncodedBytes),
		seconds(MetricEncodeSeconds, "Time spent encoding.", func(c *Counters) uint64 { return c.EncodeNanos.Load() }),
		seconds(MetricProduceSeconds, "Time spent handing records to producers.", func(c *Counters) uint64 { return c.ProduceNanos.Load() }),
	}
	denied := gauge(MetricLeasesDenied, "Leases denied for want of budget or capacity.",
		func(s status) uint64 { return s.GetMemory().GetDeniedLeases() })
	denied.kind = prometheus.CounterValue
	differences := gauge(MetricMemoryDifferences, "Lasting disagreements of ledger, segments and kernel; a defect.",
		func(s status) uint64 { return s.GetMemory().GetDifferences() })
	differences.kind = prometheus.CounterValue
	adopted := gauge(MetricSegmentsAdopted, "Segments of the daemon's earlier life that were taken over from the service manager.",
		func(s status) uint64 { return uint64(s.GetMemory().GetAdoptedSegments()) })
	adopted.kind = prometheus.CounterValue
	refused := gauge(MetricSegmentsRefused, "Descriptors of the service manager's store that were no segments to take over; the log has the reasons.",
		func(s status) uint64 { return uint64(s.GetMemory().GetRefusedSegments()) })
	refused.kind = prometheus.CounterValue
	list = append(list, denied, differences, adopted, refused)
	list = append(list, spillSamples()...)
	list = append(list, family(prometheus.GaugeValue, MetricSlots, "Slots in use now, by state.", LabelState,
		map[string]func(status) uint64{
			"reserved": func(s status) uint64 { return sumSessions(s, (*pb.SessionStatus).GetSlotsReserved) },
			"parked":   func(s status) uint64 { return sumSessions(s, (*pb.SessionStatus).GetSlotsParked) },
			"claimed":  func(s status) uint64 { return sumSessions(s, (*pb.SessionStatus).GetSlotsClaimed) },
		})...)
	list = append(list, family(prometheus.CounterValue, MetricEpochs, "Epochs, by how they ended.", LabelOutcome,
		map[string]func(status) uint64{
			"sealed":  func(s status) uint64 { return s.GetCounters().GetEpochsSealed() },
			"empty":   func(s status) uint64 { return s.GetCounters().GetEpochsEmpty() },
			"failed":  func(s status) uint64 { return s.GetCounters().GetEpochsFailed() },
			"aborted": func(s status) uint64 { return s.GetCounters().GetEpochsAborted() },
		})...)
	return append(list, family(prometheus.CounterValue, MetricHandlesRefused, "Handles and batches refused, by reason.", LabelReason,
		map[string]func(status) uint64{
			"stale":   func(s status) uint64 { return s.GetCounters().GetStaleHandles() },
			"foreign": func(s status) uint64 { return s.GetCounters().GetForeignHandles() },
			"bad":     func(s status) uint64 { return s.GetCounters().GetBadBatches() },
		})...)
}

// Describe sends every metric description once.
func (c *Collector) Describe(out chan<- *prometheus.Desc) {
	seen := map[*prometheus.Desc]bool{}
	for _, s := range samples {
		if !seen[s.desc] {
			seen[s.desc] = true
			out <- s.desc
		}
	}
	for _, s := range accountSamples {
		out <- s.desc
	}
	out <- purposeDesc
	c.counters.sealSeconds.Describe(out)
}

// Collect takes one snapshot and sends every metric of it.
func (c *Collector) Collect(out chan<- prometheus.Metric) {
	status := c.status()
	for _, s := range samples {
		var labels []string
		if s.label != "" {
			labels = []string{s.label}
		}
		out <- prometheus.MustNewConstMetric(s.desc, s.kind, s.value(status, c.counters), labels...)
	}
	collectAccounts(status.GetAccounts(), out)
	c.counters.sealSeconds.Collect(out)
}
