package epoch_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"penstock.dev/penstock/kafka/epoch"
	"penstock.dev/penstock/kafka/kafkatest"
	"penstock.dev/penstock/kafka/producer"
	"penstock.dev/penstock/kafka/producer/pace"
)

func testContext(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 60*time.Second)
	t.Cleanup(cancel)
	return ctx
}

// newWriter makes a writer on a fake engine; the end of the test closes it and sees that the engine was used well.
func newWriter(t *testing.T, f kafkatest.Faults, change func(*epoch.Options)) (*epoch.Writer, *kafkatest.Engine) {
	t.Helper()
	e := kafkatest.New(f)
	o := epoch.Options{Engine: e, Config: producer.Config{MaxBlock: 5 * time.Second}, Transactional: true, WarmPool: true}
	if change != nil {
		change(&o)
	}
	w := epoch.NewWriter(o)
	t.Cleanup(func() {
		if err := w.Close(testContext(t)); err != nil {
			t.Error(err)
		}
		if wrong := e.Misuses(); len(wrong) > 0 {
			t.Errorf("misuses: %v\nlog: %v", wrong, e.Log())
		}
	})
	return w, e
}

func batch(n int) *producer.Records {
	r := &producer.Records{Topic: "t", ValueOffsets: []uint32{0}}
	for i := range n {
		r.Values = fmt.Appendf(r.Values, "row-%d", i)
		r.ValueOffsets = append(r.ValueOffsets, uint32(len(r.Values)))
	}
	return r
}

func mustBegin(t *testing.T, w *epoch.Writer, n uint64, id string, gaps ...string) epoch.BeginResult {
	t.Helper()
	r, err := w.Begin(testContext(t), n, id, gaps)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// await polls until ok, with a deadline.
func await(t *testing.T, what string, ok func() bool) {
	t.Helper()
	deadline := time.Now().Add(60 * time.Second)
	for !ok() {
		if time.Now().After(deadline) {
			t.Fatalf("%s did not come true", what)
		}
		time.Sleep(time.Millisecond)
	}
}

func wantLog(t *testing.T, e *kafkatest.Engine, want string) {
	t.Helper()
	if got := strings.Join(e.Log(), ", "); got != want {
		t.Errorf("log:  %s\nwant: %s", got, want)
	}
}

func TestEpochsFromWarmProducers(t *testing.T) {
	warmed := make(chan string, 10)
	w, e := newWriter(t, kafkatest.Faults{}, func(o *epoch.Options) {
		o.Warmed = func(id string, _ time.Duration, err error) { warmed <- fmt.Sprint(id, err) }
	})
	ctx := testContext(t)
	if r := mustBegin(t, w, 1, "a"); r.Warm {
		t.Error("the first epoch was warm")
	}
	if err := w.Warm("b"); err != nil {
		t.Fatal(err)
	}
	if got := <-warmed; got != "b<nil>" {
		t.Errorf("warmed %s", got)
	}
	for range 2 {
		if err := w.Produce(ctx, batch(3)); err != nil {
			t.Fatal(err)
		}
	}
	s := w.State()
	if s.State != epoch.Open || s.TransactionalID != "a" || s.Rows != 6 || s.WarmID != "b" || s.Counters.Accepted != 6 || s.Begun.IsZero() {
		t.Errorf("snapshot %+v", s)
	}
	r, err := w.Seal(ctx, 6)
	if err != nil || r.Rows != 6 || r.Identity.TransactionalID != "a" || r.Stats.Batches != 2 {
		t.Fatalf("sealed %+v, %v", r, err)
	}
	if !mustBegin(t, w, 2, "b").Warm {
		t.Error("the second epoch was not warm")
	}
	if r, err := w.Seal(ctx, 0); err != nil || r.Rows != 0 {
		t.Errorf("empty: %+v, %v", r, err)
	}
	wantLog(t, e, "init a, begin a, init b, produce a 3, produce a 3, seal a 6, release a, begin b, discard b")
}

// A warm-up lets the seals of other subtasks go first, but an epoch that wants to begin waits for nobody.
func TestAWarmUpWaitsForCalm(t *testing.T) {
	w, e := newWriter(t, kafkatest.Faults{}, nil)
	ctx := testContext(t)
	mustBegin(t, w, 1, "a")
	epoch.Calm(w, time.Hour)
	if err := w.Warm("b"); err != nil {
		t.Fatal(err)
	}
	if err := w.Produce(ctx, batch(1)); err != nil {
		t.Fatal(err)
	}
	time.Sleep(10 * time.Millisecond)
	if _, err := w.Seal(ctx, 1); err != nil {
		t.Fatal(err)
	}
	mustBegin(t, w, 2, "b")
	wantLog(t, e, "init a, begin a, produce a 1, seal a 1, release a, init b, begin b")
}

// The epochs of periodic checkpoints are equally long; so the producer knows when the next barrier is due.
func TestTheNextBarrierIsExpected(t *testing.T) {
	p := pace.New(time.Second)
	w, _ := newWriter(t, kafkatest.Faults{}, func(o *epoch.Options) { o.Config.Pace = p })
	const rate = 1 << 40
	m, now := p.Meter(), time.Now()
	for i := range int64(3) {
		m.Observe(now.Add(time.Duration(i)*time.Second), 1+i*rate, 1, 1)
	}
	ctx := testContext(t)
	mustBegin(t, w, 1, "a")
	if got := p.BytesAt(time.Now(), 0, rate); got != rate {
		t.Errorf("%d bytes may wait in the first epoch, want all", got)
	}
	if _, err := w.Seal(ctx, 0); err != nil {
		t.Fatal(err)
	}
	mustBegin(t, w, 2, "b")
	if got := p.BytesAt(time.Now(), 0, rate); got != rate/4 {
		t.Errorf("%d bytes may wait when the next barrier is due, want a quarter of %d", got, rate)
	}
}

func TestWrongGuessAndGaps(t *testing.T) {
	w, e := newWriter(t, kafkatest.Faults{}, nil)
	if err := w.Warm("id-3"); err != nil {
		t.Fatal(err)
	}
	await(t, "warm", func() bool { return w.State().Warm == epoch.Ready })
	mustBegin(t, w, 5, "id-5", "id-2", "id-3", "id-4")
	wantLog(t, e, "init id-3, discard id-3, init id-2, discard id-2, init id-4, discard id-4, init id-5, begin id-5")
}

func TestInitialisationsNeverOverlap(t *testing.T) {
	w, e := newWriter(t, kafkatest.Faults{InitDelay: 5 * time.Millisecond}, nil)
	for i := range 5 {
		for j := range 3 {
			if err := w.Warm(fmt.Sprintf("guess-%d-%d", i, j)); err != nil {
				t.Fatal(err)
			}
		}
		mustBegin(t, w, uint64(i), fmt.Sprintf("id-%d", i), fmt.Sprintf("gap-%d", i))
		if _, err := w.Seal(testContext(t), 0); err != nil {
			t.Fatal(err)
		}
	}
	if n := e.MaxConcurrentInits(); n != 1 {
		t.Errorf("%d initialisations at the same time", n)
	}
}

func TestBeginIsBoundedByItsContext(t *testing.T) {
	gate := make(chan struct{})
	w, _ := newWriter(t, kafkatest.Faults{InitGate: gate}, nil)
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer cancel()
	_, err := w.Begin(ctx, 1, "a", nil)
	if !errors.Is(err, context.DeadlineExceeded) || producer.KindOf(err) != producer.FailEpoch {
		t.Fatalf("error %v", err)
	}
	if again := w.Produce(testContext(t), batch(1)); again != err {
		t.Errorf("a failed writer answered %v", again)
	}
	close(gate)
}

func TestInitialisationIsBoundedByItsTimeout(t *testing.T) {
	gate := make(chan struct{})
	w, _ := newWriter(t, kafkatest.Faults{InitGate: gate}, func(o *epoch.Options) { o.InitTimeout = 20 * time.Millisecond })
	_, err := w.Begin(testContext(t), 1, "a", nil)
	if !errors.Is(err, context.DeadlineExceeded) || producer.KindOf(err) != producer.Retry {
		t.Errorf("error %v", err)
	}
}

// TestCloseWaitsForAnInitialisation: cut off, it could reach the broker after the next attempt's of the same id.
func TestCloseWaitsForAnInitialisation(t *testing.T) {
	w, e := newWriter(t, kafkatest.Faults{InitDelay: 50 * time.Millisecond}, nil)
	if err := w.Warm("a"); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(testContext(t)); err != nil {
		t.Fatal(err)
	}
	wantLog(t, e, "init a, discard a")
}

func TestCloseCutsAnInitialisationOff(t *testing.T) {
	w, e := newWriter(t, kafkatest.Faults{InitGate: make(chan struct{})}, nil)
	if err := w.Warm("a"); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer cancel()
	// The initialisation never ends by itself: that this returns is the point.
	if err := w.Close(ctx); err != nil {
		t.Errorf("closed with %v", err)
	}
	if s := w.State(); s.State != epoch.Released || e.Live() != 0 {
		t.Errorf("%+v, %d producers", s, e.Live())
	}
}

func TestFailuresAreFinal(t *testing.T) {
	broken := producer.Errorf(producer.Fenced, "broken")
	fails := func(string) error { return broken }
	for name, c := range map[string]struct {
		faults kafkatest.Faults
		log    string
	}{
		"init":    {kafkatest.Faults{Init: fails}, "init a failed"},
		"begin":   {kafkatest.Faults{Begin: fails}, "init a, begin a failed"},
		"produce": {kafkatest.Faults{Produce: fails}, "init a, begin a, abort a"},
		"seal":    {kafkatest.Faults{Seal: fails}, "init a, begin a, produce a 2, seal a failed"},
	} {
		t.Run(name, func(t *testing.T) {
			w, e := newWriter(t, c.faults, nil)
			ctx := testContext(t)
			_, err := w.Begin(ctx, 1, "a", nil)
			if err == nil {
				err = w.Produce(ctx, batch(2))
			}
			if err == nil {
				_, err = w.Seal(ctx, 2)
			}
			if err != broken || w.Err() != broken {
				t.Errorf("errors %v, %v", err, w.Err())
			}
			if _, err := w.Begin(ctx, 2, "b", nil); err != broken {
				t.Errorf("begin of a failed writer: %v", err)
			}
			if err := w.Close(ctx); err != nil {
				t.Error(err)
			}
			wantLog(t, e, c.log)
		})
	}
}

func TestAsynchronousFailureIsSeen(t *testing.T) {
	w, e := newWriter(t, kafkatest.Faults{}, nil)
	mustBegin(t, w, 1, "a")
	if err := w.Err(); err != nil {
		t.Fatal(err)
	}
	lost := errors.New("lost")
	e.Order(kafkatest.Faults{Async: func(string) error { return lost }})
	if err := w.Err(); err != lost {
		t.Errorf("error %v", err)
	}
}

func TestSealNeedsTheSameNumberOfRows(t *testing.T) {
	w, e := newWriter(t, kafkatest.Faults{}, nil)
	mustBegin(t, w, 1, "a")
	if err := w.Produce(testContext(t), batch(2)); err != nil {
		t.Fatal(err)
	}
	_, err := w.Seal(testContext(t), 3)
	if err == nil || !strings.Contains(err.Error(), "handed over 3 rows, the producer accepted 2") {
		t.Errorf("error %v", err)
	}
	if e.Sealed("a") != nil {
		t.Error("it was sealed")
	}
}

func TestStreamEnd(t *testing.T) {
	for name, c := range map[string]struct {
		rows int
		log  string
	}{
		"rows are aborted":     {1, "init a, begin a, produce a 1, init b, discard b, abort a"},
		"no rows, no EndTxn":   {0, "init a, begin a, init b, discard a, discard b"},
		"sealed is left alone": {-1, "init a, begin a, produce a 1, init b, seal a 1, release a, discard b"},
	} {
		t.Run(name, func(t *testing.T) {
			w, e := newWriter(t, kafkatest.Faults{}, nil)
			mustBegin(t, w, 1, "a")
			if c.rows != 0 {
				if err := w.Produce(testContext(t), batch(1)); err != nil {
					t.Fatal(err)
				}
			}
			if err := w.Warm("b"); err != nil {
				t.Fatal(err)
			}
			await(t, "warm", func() bool { return w.State().Warm == epoch.Ready })
			if c.rows < 0 {
				if _, err := w.Seal(testContext(t), 1); err != nil {
					t.Fatal(err)
				}
			}
			if err := w.Close(testContext(t)); err != nil {
				t.Fatal(err)
			}
			wantLog(t, e, c.log)
		})
	}
}

func TestAbortThenNextEpoch(t *testing.T) {
	w, e := newWriter(t, kafkatest.Faults{}, nil)
	mustBegin(t, w, 1, "a")
	if err := w.Produce(testContext(t), batch(1)); err != nil {
		t.Fatal(err)
	}
	if err := w.Abort(testContext(t)); err != nil {
		t.Fatal(err)
	}
	mustBegin(t, w, 2, "b")
	wantLog(t, e, "init a, begin a, produce a 1, abort a, init b, begin b")
}

func TestWithoutWarmPool(t *testing.T) {
	w, e := newWriter(t, kafkatest.Faults{}, func(o *epoch.Options) { o.WarmPool = false })
	if err := w.Warm("a"); err != nil {
		t.Fatal(err)
	}
	if mustBegin(t, w, 1, "a").Warm || slices.Contains(e.Log()[1:], "init a") {
		t.Errorf("log %v", e.Log())
	}
}

func TestPlainWriter(t *testing.T) {
	w, e := newWriter(t, kafkatest.Faults{}, func(o *epoch.Options) { o.Transactional = false })
	ctx := testContext(t)
	for n := range uint64(2) {
		mustBegin(t, w, n, "")
		if err := w.Produce(ctx, batch(4)); err != nil {
			t.Fatal(err)
		}
		if err := w.Flush(ctx, 4); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(ctx); err != nil {
		t.Fatal(err)
	}
	wantLog(t, e, "open plain, produce  4, flush 4, produce  4, flush 8, close ")
}

func TestPlainFlushFailure(t *testing.T) {
	broken := errors.New("broken")
	w, _ := newWriter(t, kafkatest.Faults{Flush: func(string) error { return broken }},
		func(o *epoch.Options) { o.Transactional = false })
	mustBegin(t, w, 1, "")
	if err := w.Flush(testContext(t), 0); err != broken {
		t.Errorf("error %v", err)
	}
	if w.State().State != epoch.Failed {
		t.Errorf("state %+v", w.State())
	}
}

// TestStateFromOtherGoroutines is for the race detector and for the fake's check that nothing consumed is asked.
func TestStateFromOtherGoroutines(t *testing.T) {
	w, _ := newWriter(t, kafkatest.Faults{}, nil)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for w.State().State != epoch.Released {
			w.Counters()
			w.Err()
		}
	}()
	for i := range uint64(50) {
		mustBegin(t, w, i, fmt.Sprintf("id-%d", i))
		if err := w.Warm(fmt.Sprintf("id-%d", i+1)); err != nil {
			t.Fatal(err)
		}
		if err := w.Produce(testContext(t), batch(1)); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Seal(testContext(t), 1); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(testContext(t)); err != nil {
		t.Fatal(err)
	}
	<-done
}
