package telemetry

import (
	"github.com/prometheus/client_golang/prometheus"

	pb "penstock.dev/penstock/proto/gen/penstock/v1"
)

// accountSample is one metric of each account.
type accountSample struct {
	desc  *prometheus.Desc
	kind  prometheus.ValueType
	value func(*pb.AccountStatus) uint64
}

func ofAccount(kind prometheus.ValueType, name, help string, value func(*pb.AccountStatus) uint64) accountSample {
	return accountSample{prometheus.NewDesc(name, help, []string{LabelProcess}, nil), kind, value}
}

var accountSamples = []accountSample{
	ofAccount(prometheus.GaugeValue, MetricAccountCapacity, "Budget of a TaskManager (taskmanager.memory.task.off-heap.size).",
		(*pb.AccountStatus).GetCapacityBytes),
	ofAccount(prometheus.GaugeValue, MetricAccountReserved, "What its sinks hold.", (*pb.AccountStatus).GetReservedBytes),
	ofAccount(prometheus.GaugeValue, MetricAccountAvailable, "What any of its sinks may still reserve.", (*pb.AccountStatus).GetAvailableBytes),
	ofAccount(prometheus.GaugeValue, MetricAccountPeak, "The most that was ever held.", (*pb.AccountStatus).GetPeakBytes),
	ofAccount(prometheus.CounterValue, MetricAccountDenied, "Reservations denied.", (*pb.AccountStatus).GetDenied),
	ofAccount(prometheus.CounterValue, MetricAccountWaits, "Reservations that waited for memory to come back.", (*pb.AccountStatus).GetWaits),
	ofAccount(prometheus.GaugeValue, MetricAccountInFlight, "Batches that wait or are read; they lie in leased segments.",
		(*pb.AccountStatus).GetInFlightBytes),
}

var purposeDesc = prometheus.NewDesc(MetricAccountPurpose, "What its sinks hold, by purpose.", []string{LabelProcess, LabelPurpose}, nil)

// collectAccounts sends the metrics of every account. Processes of one name, as two daemons' clients on one host cannot be but
// test programs may, are added up.
func collectAccounts(accounts []*pb.AccountStatus, out chan<- prometheus.Metric) {
	merged := map[string]*pb.AccountStatus{}
	for _, a := range accounts {
		if sum := merged[a.GetProcess()]; sum != nil {
			addAccount(sum, a)
		} else {
			merged[a.GetProcess()] = a
		}
	}
	for process, a := range merged {
		for _, s := range accountSamples {
			out <- prometheus.MustNewConstMetric(s.desc, s.kind, float64(s.value(a)), process)
		}
		for _, p := range a.GetByPurpose() {
			out <- prometheus.MustNewConstMetric(purposeDesc, prometheus.GaugeValue, float64(p.GetBytes()), process, p.GetPurpose())
		}
	}
}

func addAccount(sum, a *pb.AccountStatus) {
	sum.CapacityBytes += a.GetCapacityBytes()
	sum.ReservedBytes += a.GetReservedBytes()
	sum.AvailableBytes += a.GetAvailableBytes()
	sum.PeakBytes += a.GetPeakBytes()
	sum.Denied += a.GetDenied()
	sum.Waits += a.GetWaits()
	sum.InFlightBytes += a.GetInFlightBytes()
	for i, p := range a.GetByPurpose() {
		sum.ByPurpose[i].Bytes += p.GetBytes()
	}
}
