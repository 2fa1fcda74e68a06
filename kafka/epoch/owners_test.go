package epoch_test

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"penstock.dev/penstock/kafka/epoch"
	"penstock.dev/penstock/kafka/kafkatest"
	"penstock.dev/penstock/kafka/producer"
)

// owned makes a writer of a task attempt on the engine; the test closes it.
func owned(e *kafkatest.Engine, owners *epoch.Owners, job string, attempt uint32, number uint64) *epoch.Writer {
	return epoch.NewWriter(epoch.Options{Engine: e, Config: producer.Config{MaxBlock: 20 * time.Second}, Transactional: true,
		WarmPool: true, Owners: owners,
		Owner: epoch.Owner{Job: job, Vertex: "v", Task: "Sink", Attempt: attempt, Writer: number}})
}

func closeWriter(t *testing.T, w *epoch.Writer) {
	t.Helper()
	if err := w.Close(testContext(t)); err != nil {
		t.Error(err)
	}
}

// TestSecondOwnerIsRefused: another job, another sink of the same job, and an older attempt. The texts name both.
func TestSecondOwnerIsRefused(t *testing.T) {
	e, owners := kafkatest.New(kafkatest.Faults{}), &epoch.Owners{Patience: 20 * time.Millisecond}
	first := owned(e, owners, "job1", 3, 1)
	mustBegin(t, first, 1, "p-0-1")
	for _, other := range []epoch.Owner{{Job: "job2", Attempt: 9}, {Job: "job1", Attempt: 3}, {Job: "job1", Attempt: 2}} {
		for _, ids := range [][]string{{"p-0-1"}, {"p-0-9", "p-0-1"}} {
			w := owned(e, owners, other.Job, other.Attempt, 2) // a failed writer would only repeat itself
			_, err := w.Begin(testContext(t), 1, ids[0], ids[1:])
			if producer.KindOf(err) != producer.Fenced || !strings.Contains(err.Error(), "writer 1 (job job1") ||
				!strings.Contains(err.Error(), "may not use it: give each sink") {
				t.Errorf("ids %v: kind %v of %v", ids, producer.KindOf(err), err)
			}
			closeWriter(t, w)
		}
	}
	closeWriter(t, first)
	later := owned(e, owners, "job2", 0, 5)
	mustBegin(t, later, 1, "p-0-1")
	closeWriter(t, later)
	if m := e.Misuses(); len(m) != 0 {
		t.Error(m)
	}
}

// TestAnEndingOwnerIsWaitedFor: a job that was cancelled, and a JobManager that counts attempts from 0 again. Neither costs a restart.
func TestAnEndingOwnerIsWaitedFor(t *testing.T) {
	for name, next := range map[string]epoch.Owner{"another job": {Job: "job2"}, "a new JobManager": {Job: "job1"}} {
		t.Run(name, func(t *testing.T) {
			e, owners := kafkatest.New(kafkatest.Faults{}), &epoch.Owners{}
			old := owned(e, owners, "job1", 3, 1)
			mustBegin(t, old, 1, "p-0-1")
			gate := make(chan struct{})
			e.Order(kafkatest.Faults{InitGate: gate})
			if err := old.Warm("p-0-2"); err != nil {
				t.Fatal(err)
			}
			young := owned(e, owners, next.Job, 0, 2)
			begun := make(chan error, 1)
			go func() {
				_, err := young.Begin(testContext(t), 1, "p-0-2", []string{"p-0-1"})
				begun <- err
			}()
			select {
			case err := <-begun:
				t.Fatalf("begun beside the old owner: %v", err)
			case <-time.After(50 * time.Millisecond):
			}
			close(gate)
			closeWriter(t, old)
			if err := <-begun; err != nil {
				t.Error(err)
			}
			if n := e.MaxConcurrentInits(); n != 1 {
				t.Errorf("%d initialisations at the same time", n)
			}
			closeWriter(t, young)
			if m := e.Misuses(); len(m) != 0 {
				t.Error(m)
			}
		})
	}
}

// TestLaterAttemptTakesOver: after the initialisations of the earlier one, and at once where it has none.
func TestLaterAttemptTakesOver(t *testing.T) {
	gate := make(chan struct{})
	defer close(gate)
	var warmUps atomic.Int32
	e := kafkatest.New(kafkatest.Faults{})
	owners := &epoch.Owners{}
	old := owned(e, owners, "job", 1, 1)
	mustBegin(t, old, 1, "p-0-1")
	e.Order(kafkatest.Faults{InitGate: gate, Init: func(string) error { warmUps.Add(1); return nil }})
	if err := old.Warm("p-0-2"); err != nil {
		t.Fatal(err)
	}
	time.Sleep(20 * time.Millisecond)
	e.Order(kafkatest.Faults{}) // the warm-up stays behind its gate
	young := owned(e, owners, "job", 2, 2)
	mustBegin(t, young, 1, "p-0-1")
	if n := e.MaxConcurrentInits(); n != 1 {
		t.Errorf("%d initialisations at the same time", n)
	}
	if err := old.Err(); producer.KindOf(err) != producer.Fenced || !strings.Contains(err.Error(), "attempt 1) was taken over by writer 2") {
		t.Errorf("the old attempt: %v", err)
	}
	if _, err := old.Seal(testContext(t), 0); producer.KindOf(err) != producer.Fenced {
		t.Errorf("the old attempt seals: %v", err)
	}
	if err := young.Produce(testContext(t), batch(2)); err != nil {
		t.Fatal(err)
	}
	if _, err := young.Seal(testContext(t), 2); err != nil {
		t.Errorf("the new attempt: %v", err)
	}
	if warmUps.Load() != 0 {
		t.Error("the warm-up of the old attempt was not cut off")
	}
	closeWriter(t, young)
	closeWriter(t, old)
	if m := e.Misuses(); len(m) != 0 {
		t.Error(m)
	}
}

// TestTakingOverIsBounded: an engine that does not come back keeps the new attempt out, with both names.
func TestTakingOverIsBounded(t *testing.T) {
	stuck := make(chan struct{})
	e, owners := kafkatest.New(kafkatest.Faults{Init: func(string) error { <-stuck; return nil }}), &epoch.Owners{}
	old, young := owned(e, owners, "job", 1, 1), owned(e, owners, "job", 2, 2)
	if err := old.Warm("p-0-1"); err != nil {
		t.Fatal(err)
	}
	time.Sleep(20 * time.Millisecond)
	ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
	defer cancel()
	if _, err := young.Begin(ctx, 1, "p-0-1", nil); err == nil {
		t.Error("begun beside the old one")
	}
	close(stuck)
	closeWriter(t, old)
	closeWriter(t, young)
}
