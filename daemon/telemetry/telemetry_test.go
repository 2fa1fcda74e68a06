package telemetry

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	pb "penstock.dev/penstock/proto/gen/penstock/v1"
)

func account(process string) *pb.AccountStatus {
	return &pb.AccountStatus{Process: process, CapacityBytes: 100, ReservedBytes: 40, PeakBytes: 60, Denied: 2,
		ByPurpose: []*pb.PurposeBytes{{Purpose: "lease", Bytes: 30}, {Purpose: "encode_buffer", Bytes: 10}}}
}

func TestEndpointServesTheSnapshot(t *testing.T) {
	counters := NewCounters()
	counters.Rows.Add(7)
	counters.Pressed.Add(3)
	counters.EncodeNanos.Add(1_500_000_000)
	counters.CountFault(pb.ErrorKind_STALE_HANDLE, false)
	counters.CountFault(pb.ErrorKind_BAD_REQUEST, true)
	counters.CountFault(pb.ErrorKind_INTERNAL, false)
	counters.ObserveSeal(0.01)
	status := func() *pb.GetStatusResponse {
		return &pb.GetStatusResponse{
			Serving:  true,
			Sessions: []*pb.SessionStatus{{LeasedSegments: 2, SlotsParked: 3}, {LeasedSegments: 1, SlotsParked: 1}},
			Memory:   &pb.MemoryStatus{CapacityBytes: 64, DeniedLeases: 5, OrphanBytes: 11, Differences: 1, AdoptedSegments: 6, RefusedSegments: 2},
			Accounts: []*pb.AccountStatus{account("tm-1"), account("tm-2"), account("tm-2")},
			Counters: counters.Status(),
		}
	}
	endpoint, err := NewEndpoint("127.0.0.1:0", NewCollector(status, counters))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- endpoint.Run(ctx) }()

	client := http.Client{Timeout: 10 * time.Second}
	reply, err := client.Get("http://" + endpoint.Address() + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	text, _ := io.ReadAll(reply.Body)
	reply.Body.Close()
	for _, want := range []string{
		MetricUp + " 1", MetricSessions + " 2", MetricLeases + " 3", MetricSlots + `{state="parked"} 4`,
		MetricRows + " 7", MetricEncodeSeconds + " 1.5", MetricHandlesRefused + `{reason="stale"} 1`, MetricHandlesRefused + `{reason="bad"} 1`, MetricHandlesRefused + `{reason="foreign"} 0`,
		MetricLeasesDenied + " 5", MetricArenaCapacity + " 64", MetricSealSeconds + "_count 1",
		MetricPressed + " 3", MetricProcessesEnded + " 0", MetricArenaOrphan + " 11", MetricMemoryDifferences + " 1",
		MetricAccountCapacity + `{process="tm-1"} 100`, MetricAccountReserved + `{process="tm-1"} 40`, MetricAccountPeak + `{process="tm-2"} 120`,
		MetricAccountDenied + `{process="tm-1"} 2`, MetricAccountPurpose + `{process="tm-1",purpose="lease"} 30`,
		MetricAccountPurpose + `{process="tm-2",purpose="lease"} 60`,
		MetricSegmentsAdopted + " 6", MetricSegmentsRefused + " 2",
		"# TYPE " + MetricLeasesDenied + " counter", "# TYPE " + MetricSegmentsAdopted + " counter",
	} {
		if !strings.Contains(string(text), want+"\n") {
			t.Errorf("no line %q in\n%s", want, text)
		}
	}

	cancel()
	select {
	case err := <-ended:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(10 * time.Second):
		t.Fatal("the endpoint does not stop")
	}
}

func TestAddressInUseNamesTheOption(t *testing.T) {
	collector := NewCollector(func() *pb.GetStatusResponse { return &pb.GetStatusResponse{} }, NewCounters())
	first, err := NewEndpoint("127.0.0.1:0", collector)
	if err != nil {
		t.Fatal(err)
	}
	defer first.Close()
	_, err = NewEndpoint(first.Address(), collector)
	if err == nil || !strings.Contains(err.Error(), "metrics.listen") {
		t.Errorf("got %v, want an error that names metrics.listen", err)
	}
}

func TestLoggerFormats(t *testing.T) {
	var out bytes.Buffer
	log := NewLogger(&out, slog.LevelWarn, "json")
	log.Info("quiet")
	log.Warn("loud", FieldSession, 3)
	var line map[string]any
	if err := json.Unmarshal(out.Bytes(), &line); err != nil || line["msg"] != "loud" || line[FieldSession] != 3.0 {
		t.Errorf("got %s, %v", out.Bytes(), err)
	}
	out.Reset()
	NewLogger(&out, slog.LevelInfo, "text").Info("plain", FieldSession, 3)
	if !strings.Contains(out.String(), "msg=plain session=3") {
		t.Errorf("got %s", out.String())
	}
}
