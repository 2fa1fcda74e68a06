package pipeline

import (
	"context"
	"errors"
	"testing"

	pb "penstock.dev/penstock/proto/gen/penstock/v1"
	"penstock.dev/penstock/shm/spill"
)

// flush is a request that no disk takes.
func flush(epoch uint64) *Queued {
	return NewQueued(&pb.WriteRequest{Request: &pb.WriteRequest_Flush{Flush: &pb.FlushEpoch{EpochId: epoch}}})
}

func diskOf(tb testing.TB) *Disk {
	tb.Helper()
	store, err := spill.Open(spill.Config{Directory: tb.TempDir(), Daemon: 1, Quota: 64 << 20})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = store.Close(context.Background()) })
	return &Disk{Store: store, HighWater: 1 << 20, Patience: 1}
}

// bothWays runs test for a backlog without and with a disk: nobody may see a difference before a batch waits.
func bothWays(t *testing.T, test func(t *testing.T, b *Backlog, in chan *Queued)) {
	for name, disk := range map[string]*Disk{"memory": nil, "disk": diskOf(t)} {
		t.Run(name, func(t *testing.T) {
			in := make(chan *Queued, 8)
			w := &Writer{options: Options{Disk: disk}}
			test(t, w.Backlog(t.Context(), in), in)
		})
	}
}

func TestRequestsComeInOrderToTheEnd(t *testing.T) {
	bothWays(t, func(t *testing.T, b *Backlog, in chan *Queued) {
		for i := range uint64(8) {
			in <- flush(i)
		}
		close(in)
		next := uint64(0)
		for q := range b.Requests() {
			if got := q.Request().GetFlush().GetEpochId(); got != next {
				t.Fatalf("request %d instead of %d", got, next)
			}
			next++
		}
		if next != 8 {
			t.Errorf("%d requests of 8", next)
		}
		if rest := b.Stop(); len(rest) != 0 {
			t.Errorf("%d requests are left behind the end", len(rest))
		}
	})
}

func TestStopReturnsWhatWasNotTaken(t *testing.T) {
	bothWays(t, func(t *testing.T, b *Backlog, in chan *Queued) {
		for i := range uint64(4) {
			in <- flush(i)
		}
		<-b.Requests()
		rest := b.Stop()
		if len(rest) != 3 {
			t.Fatalf("%d requests, want 3", len(rest))
		}
		for i, q := range rest {
			if got := q.Request().GetFlush().GetEpochId(); got != uint64(i+1) {
				t.Errorf("request %d at %d", got, i)
			}
		}
		if err := context.Cause(b.Context()); !errors.Is(err, context.Canceled) {
			t.Errorf("what is being handled goes on: %v", err)
		}
	})
}

// BenchmarkBacklog is what a request costs between the stream's goroutine and Handle's: two goroutines without a disk, three with one.
func BenchmarkBacklog(b *testing.B) {
	for name, disk := range map[string]*Disk{"memory": nil, "disk": diskOf(b)} {
		b.Run(name, func(b *testing.B) {
			in := make(chan *Queued, 64)
			w := &Writer{options: Options{Disk: disk}}
			backlog := w.Backlog(b.Context(), in)
			defer backlog.Stop()
			b.ReportAllocs()
			go func() {
				defer close(in)
				for i := range b.N {
					in <- flush(uint64(i))
				}
			}()
			for range backlog.Requests() {
			}
		})
	}
}

// BenchmarkBacklogAlone is the same for a request that is sent when the one before has been answered, as a seal is.
func BenchmarkBacklogAlone(b *testing.B) {
	for name, disk := range map[string]*Disk{"memory": nil, "disk": diskOf(b)} {
		b.Run(name, func(b *testing.B) {
			in := make(chan *Queued, 64)
			done := make(chan struct{})
			w := &Writer{options: Options{Disk: disk}}
			backlog := w.Backlog(b.Context(), in)
			defer backlog.Stop()
			go func() {
				defer close(in)
				for i := range b.N {
					in <- flush(uint64(i))
					<-done
				}
			}()
			for range backlog.Requests() {
				done <- struct{}{}
			}
		})
	}
}
