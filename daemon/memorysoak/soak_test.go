package memorysoak

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"penstock.dev/penstock/daemon/daemontest"
	"penstock.dev/penstock/shm"
)

var (
	roundsFlag  = flag.Int("rounds", defaultRounds, "clients to kill")
	seedFlag    = flag.Uint64("seed", 1, "where everything random comes from")
	workersFlag = flag.Int("workers", 3, "clients at one time")
	outFlag     = flag.String("out", "", "file for the result")
)

// TestMain lets this binary play a client.
func TestMain(m *testing.M) {
	if text := os.Getenv(peerEnv); text != "" {
		var o order
		if err := json.Unmarshal([]byte(text), &o); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		play(o)
	}
	os.Exit(m.Run())
}

// TestKilledClientsLeaveNothing kills clients at random points. Meanwhile a neighbour works on and finds its memory as it left it.
func TestKilledClientsLeaveNothing(t *testing.T) {
	binary, err := filepath.Abs("../../build/penstockd")
	if err != nil {
		t.Fatal(err)
	}
	b, err := newBed(context.Background(), binary, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer b.close()
	before, err := b.ask(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	descriptors, err := b.descriptors()
	if err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	s := &soak{t: t, bed: b, points: map[point]int{}}
	stop := make(chan struct{})
	var neighbour sync.WaitGroup
	neighbour.Go(func() { s.neighbour(stop) })
	s.run()
	close(stop)
	neighbour.Wait()
	leaked := s.leaked()
	// Of few clients each may die before its first batch is claimed.
	status, err := b.ask(context.Background())
	if err != nil || *roundsFlag >= 200 && status.GetCounters().GetBatches() == before.GetCounters().GetBatches() {
		t.Errorf("no batch was ever claimed: %v, %v", status.GetCounters(), err)
	}
	// Two connections to the broker are kept, and the warm segments may not all have been there.
	requireDescriptors(t, b, descriptors+4)
	s.finish(leaked, time.Since(start))
}

// requireDescriptors waits until the daemon has no more than so many: sockets and producers of the last clients close a little later
// than their memory comes back.
func requireDescriptors(t *testing.T, b *bed, most int) {
	t.Helper()
	for end := time.Now().Add(reclaimLimit); ; time.Sleep(20 * time.Millisecond) {
		n, err := b.descriptors()
		if err != nil {
			t.Fatal(err)
		}
		if n <= most {
			return
		}
		if time.Now().After(end) {
			t.Errorf("%d descriptors are left, want at most %d", n, most)
			return
		}
	}
}

// soak collects the rounds.
type soak struct {
	t   *testing.T
	bed *bed

	mu      sync.Mutex
	next    int
	results []result
	points  map[point]int
	visits  int
	failed  bool
}

func (s *soak) run() {
	var workers sync.WaitGroup
	for range *workersFlag {
		workers.Go(func() {
			for number := s.take(); number >= 0; number = s.take() {
				r, err := s.bed.round(context.Background(), number, *seedFlag)
				s.add(r, number, err)
			}
		})
	}
	workers.Wait()
}

// take is the number of the next round, or -1.
func (s *soak) take() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.failed || s.next == *roundsFlag {
		return -1
	}
	s.next++
	return s.next - 1
}

func (s *soak) add(r result, number int, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil {
		if errors.Is(err, errCrashed) {
			s.bed.crashes = 1
		}
		s.failed = true
		s.t.Errorf("round %d: %v\nreplay: make memory-soak ROUNDS=%d SEED=%d; the daemon's log is %s", number, err, *roundsFlag, *seedFlag,
			s.bed.logPath())
		return
	}
	s.results = append(s.results, r)
	s.points[r.point]++
}

// neighbour leases, fills, checks and returns a segment, again and again, beside the clients that die.
func (s *soak) neighbour(stop chan struct{}) {
	c := daemontest.Open(s.t, s.bed.sessionPath(), "neighbour")
	defer c.Kill()
	for fill := byte(1); ; fill++ {
		data := c.MustLease()
		body := data.Mem[shm.SegmentHeaderBytes:]
		for i, b := range body {
			if b != 0 {
				s.t.Errorf("byte %d of a fresh segment is %#x: another client's", i, b)
				return
			}
		}
		for i := range body {
			body[i] = fill
		}
		time.Sleep(5 * time.Millisecond)
		for i, b := range body {
			if b != fill {
				s.t.Errorf("byte %d of the neighbour became %#x", i, b)
				return
			}
		}
		id := data.ID()
		c.Unmap(data)
		if refused := c.Return(id); refused != nil {
			s.t.Error(refused)
			return
		}
		s.mu.Lock()
		s.visits++
		s.mu.Unlock()
		select {
		case <-stop:
			return
		default:
		}
	}
}

// leaked is what the kernel holds beyond the warm pool when all clients are dead; the books must agree, too.
func (s *soak) leaked() uint64 {
	var leaked uint64
	end := time.Now().Add(reclaimLimit)
	for {
		status, err := s.bed.ask(context.Background())
		if err != nil {
			s.t.Error(err)
			return 0
		}
		m := status.GetMemory()
		leaked = m.GetKernelBytes() - m.GetWarmBytes()
		if leaked == 0 && len(status.GetAccounts()) == 0 && len(status.GetSessions()) == 0 {
			if m.GetDifferences() != 0 {
				s.t.Errorf("the books differed %d times", m.GetDifferences())
			}
			return 0
		}
		if time.Now().After(end) {
			s.t.Errorf("left over: %v, %d accounts, %d sessions", m, len(status.GetAccounts()), len(status.GetSessions()))
			return leaked
		}
		time.Sleep(5 * time.Millisecond)
	}
}

func millis(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// finish writes the result and ends with its one line.
func (s *soak) finish(leaked uint64, took time.Duration) {
	var reclaim, writer []time.Duration
	for _, r := range s.results {
		reclaim = append(reclaim, r.reclaim)
		if r.hadWriter {
			writer = append(writer, r.writer)
		}
	}
	slices.Sort(reclaim)
	slices.Sort(writer)
	at := func(all []time.Duration, share float64) float64 {
		if len(all) == 0 {
			return 0
		}
		return millis(all[min(len(all)-1, int(share*float64(len(all))))])
	}
	names := map[string]int{}
	for p, n := range s.points {
		names[p.String()] = n
	}
	report := map[string]any{
		"seed": *seedFlag, "rounds": len(s.results), "leaked_bytes": leaked, "daemon_crashes": s.bed.crashes,
		"reclaim_p50_ms": at(reclaim, 0.5), "reclaim_p99_ms": at(reclaim, 0.99), "reclaim_max_ms": at(reclaim, 1),
		"writer_close_p50_ms": at(writer, 0.5), "writer_close_p99_ms": at(writer, 0.99), "writers": len(writer),
		"neighbour_leases": s.visits, "points": names, "seconds": int(took.Seconds()),
	}
	if *outFlag != "" {
		text, err := json.MarshalIndent(report, "", "  ")
		if err != nil {
			s.t.Fatal(err)
		}
		if err := os.WriteFile(*outFlag, append(text, '\n'), 0o644); err != nil {
			s.t.Fatal(err)
		}
	}
	for p := range points {
		if *roundsFlag >= 200 && s.points[p] == 0 {
			s.t.Errorf("no client died at %v", p)
		}
	}
	if s.points[writing] > 0 && len(writer) == 0 {
		s.t.Error("no client died with an open writer")
	}
	if s.visits == 0 {
		s.t.Error("the neighbour did nothing")
	}
	fmt.Printf("memory-soak: %d clients killed, %d bytes leaked, %d daemon crashes; given back in p50 %.1f ms, p99 %.1f ms, at most %.1f ms; "+
		"writers closed in p99 %.1f ms; seed %d\n", len(s.results), leaked, s.bed.crashes, at(reclaim, 0.5), at(reclaim, 0.99),
		at(reclaim, 1), at(writer, 0.99), *seedFlag)
}
