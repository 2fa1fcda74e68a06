package stall

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"google.golang.org/grpc"

	"penstock.dev/penstock/daemon/daemontest"
	"penstock.dev/penstock/integration/broker"
	pb "penstock.dev/penstock/proto/gen/penstock/v1"
)

var secondsFlag = flag.Int("seconds", 3, "how long the broker stands still")

const (
	topic = "rows"
	// quota is little more than what is pushed beyond the window at least, so that a few seconds reach it.
	quota = 8 << 20
	// The client's window is writer.credit; a batch has less than an extent.
	extent, window, rows = 256 << 10, 16, 10_000

	// heapGrowth is what a stalled daemon may take beyond what it had: the producer's queue of 4 MiB, 8 MiB to read back, encode buffers, and
	// what the collector has not taken yet.
	heapGrowth = 64 << 20
)

const config = `version = 1
[listen]
directory = %q
[arena]
capacity = "16MiB"
segment = "8MiB"
warm_segments = 1
[writer]
produce_timeout = "300s"
seal_timeout = "300s"
[spill]
mode = "bounded"
directory = %q
quota = "8MiB"
high_water = "1MiB"
patience = "200ms"
[process]
go_memory_limit = "128MiB"
[metrics]
listen = ""
`

// penstockd is a running daemon.
type penstockd struct {
	cmd   *exec.Cmd
	run   string
	spill string
	api   *grpc.ClientConn
}

func startDaemon(t *testing.T) *penstockd {
	t.Helper()
	base := t.TempDir()
	d := &penstockd{run: filepath.Join(base, "run"), spill: filepath.Join(base, "spill")}
	file := filepath.Join(base, "penstockd.toml")
	if err := os.WriteFile(file, fmt.Appendf(nil, config, d.run, d.spill), 0o600); err != nil {
		t.Fatal(err)
	}
	log, err := os.Create(filepath.Join(base, "penstockd.log"))
	if err != nil {
		t.Fatal(err)
	}
	d.cmd = exec.Command("../../build/penstockd", "run", "--config", file)
	d.cmd.Stdout, d.cmd.Stderr = log, log
	d.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := d.cmd.Start(); err != nil {
		t.Fatalf("%v: run `make daemon` first", err)
	}
	t.Cleanup(func() {
		_ = d.cmd.Process.Kill()
		_ = d.cmd.Wait()
		if text, err := os.ReadFile(log.Name()); t.Failed() && err == nil {
			t.Logf("penstockd:\n%s", text)
		}
		log.Close()
	})
	d.api = daemontest.API(t, filepath.Join(d.run, "api.sock"))
	daemontest.Eventually(t, "penstockd serves", func() bool {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		s, err := pb.NewDiagnosticsServiceClient(d.api).GetStatus(ctx, &pb.GetStatusRequest{})
		return err == nil && s.GetServing()
	})
	return d
}

func (d *penstockd) status(t *testing.T) *pb.GetStatusResponse {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), daemontest.Deadline)
	defer cancel()
	s, err := pb.NewDiagnosticsServiceClient(d.api).GetStatus(ctx, &pb.GetStatusRequest{})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// heap is the daemon's private memory in bytes: without the arena, which is shared.
func (d *penstockd) heap(t *testing.T) int64 {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", d.cmd.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), "RssAnon:")
	n, err := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n << 10
}

// diskBytes is what the spill folder has.
func (d *penstockd) diskBytes(t *testing.T) (sum int64) {
	t.Helper()
	entries, err := os.ReadDir(d.spill)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if info, err := e.Info(); err == nil { // else it was deleted meanwhile
			sum += info.Size()
		}
	}
	return sum
}

// peaks are the greatest figures of a stall.
type peaks struct{ arena, heap, disk, spilled, refused int64 }

// requireBounds looks at everything once.
func (p *peaks) requireBounds(t *testing.T, d *penstockd, heapBefore int64) {
	t.Helper()
	s := d.status(t)
	p.arena = max(p.arena, int64(s.GetMemory().GetKernelBytes()))
	p.heap = max(p.heap, d.heap(t)-heapBefore)
	p.disk = max(p.disk, d.diskBytes(t))
	p.spilled = max(p.spilled, int64(s.GetSpill().GetBatchesWritten()))
	p.refused = max(p.refused, int64(s.GetSpill().GetRefused()))
	if p.arena > 16<<20 || p.disk > quota || int64(s.GetSpill().GetUsedBytes()) > quota || p.heap > heapGrowth {
		t.Fatalf("beyond the bounds: %+v, %v", p, s.GetSpill())
	}
}

func TestBrokerStandsStill(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Duration(*secondsFlag)*time.Second+5*time.Minute)
	defer cancel()
	b, err := broker.Start(ctx, broker.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Kill()
	if err := b.CreateTopic(ctx, topic, 1, nil); err != nil {
		t.Fatal(err)
	}
	d := startDaemon(t)
	c := daemontest.Open(t, filepath.Join(d.run, "session.sock"), "p1")
	open := daemontest.OpenRequest(c, pb.DeliveryGuarantee_EXACTLY_ONCE)
	open.Topic = topic
	open.Kafka = &pb.KafkaConfig{BootstrapServers: []string{b.Addr()}, Acks: -1, Idempotence: true, Compression: "none",
		DeliveryTimeoutMs: 300_000, RequestTimeoutMs: 30_000, MaxBlockMs: 300_000, TransactionTimeoutMs: 900_000, MaxInFlight: 5,
		BufferBytes: 4 << 20, MaxRequestBytes: 1 << 20, ConnectionSetupTimeoutMs: 10_000, MetadataMaxAgeMs: 300_000,
		RetryBackoffMs: 100, RetryBackoffMaxMs: 1000, ReconnectBackoffMs: 50, ReconnectBackoffMaxMs: 1000}
	w := daemontest.NewWriter(t, d.api, open)
	w.Opened()
	w.Begin(1, "tx-1")
	p := daemontest.NewPusher(c, w, window, extent, rows)
	p.MustPush(1, 4)

	heapBefore := d.heap(t)
	if err := b.Pause(); err != nil {
		t.Fatal(err)
	}
	var most peaks
	before, pushed := p.Next, 0
	end := time.Now().Add(time.Duration(*secondsFlag) * time.Second)
	// A busy machine makes batches slowly; the broker stands until enough of them were pushed and the disk is full.
	full := func() bool { return most.refused > 0 && pushed >= 3*window }
	for last := end.Add(2 * daemontest.Deadline); time.Now().Before(end) || !full() && time.Now().Before(last); {
		p.Push(1, 100*time.Millisecond)
		most.requireBounds(t, d, heapBefore)
		pushed = (p.Next - before) / rows
	}
	if err := b.Resume(); err != nil {
		t.Fatal(err)
	}
	if !full() {
		t.Errorf("%d batches were pushed through the stall, the window has %d, and the disk was not full: %+v", pushed, window, most)
	}
	resumed := time.Now()
	p.MustPush(1, 2*window)
	sealed := w.Seal(1, uint64(p.Next))
	t.Logf("stalled for %d s: %d batches pushed, at most %.1f MiB shared, %.1f MiB more heap, %.1f MiB on disk, %d batches spilled; all of %d rows "+
		"sealed %.1f s after it", *secondsFlag, pushed, mib(most.arena), mib(most.heap), mib(most.disk), most.spilled, p.Next, time.Since(resumed).Seconds())
	requireRows(ctx, t, b, sealed, p.Next)
	if s := d.status(t).GetSpill(); s.GetBatchesRead() != s.GetBatchesWritten() || s.GetUsedBytes() != 0 || s.GetReadFailures()+s.GetWriteFailures() != 0 {
		t.Errorf("%v", s)
	}
}

func mib(bytes int64) float64 { return float64(bytes) / (1 << 20) }

// requireRows commits the transaction and reads every row once and in order.
func requireRows(ctx context.Context, t *testing.T, b *broker.Broker, sealed *pb.EpochSealed, count int) {
	t.Helper()
	if err := b.EndTransaction(ctx, sealed.GetTransactionalId(), sealed.GetProducerId(), int16(sealed.GetProducerEpoch()), true); err != nil {
		t.Fatal(err)
	}
	records, err := b.CommittedRecords(ctx, topic, count)
	if err != nil || len(records) != count {
		t.Fatalf("%d records, want %d: %v", len(records), count, err)
	}
	for i, r := range records {
		if string(r.Value) != daemontest.JSON(i) {
			t.Fatalf("record %d is %s, want %s", i, r.Value, daemontest.JSON(i))
		}
	}
}
