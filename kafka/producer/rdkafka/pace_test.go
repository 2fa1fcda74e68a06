package rdkafka_test

import (
	"testing"
	"time"

	"penstock.dev/penstock/kafka/producer"
	"penstock.dev/penstock/kafka/producer/pace"
	"penstock.dev/penstock/kafka/producer/rdkafka"
)

// TestThePaceBoundsTheQueue: of a queue of 32 MiB only pace.Least is used, in one epoch after the other, and a record that is larger goes
// alone.
func TestThePaceBoundsTheQueue(t *testing.T) {
	b, e := realBroker(t), newEngine(t)
	createTopic(t, b, "paced", 1, nil)
	cfg := config(b.Addr())
	atOnce := time.Duration(0)
	cfg.Linger = &atOnce
	// Whatever the broker takes in a nanosecond is less than Least.
	cfg.Pace = pace.New(time.Nanosecond)
	fresh := cfg.Pace.Meter()
	for i := range int64(3) {
		fresh.Observe(time.Unix(i, 0), 1+i, 1, 1)
	}
	const perBatch, row, batches = 256, 1024, 40
	r := &producer.Records{Topic: "paced", Values: make([]byte, perBatch*row), ValueOffsets: []uint32{0}}
	for i := range perBatch {
		r.ValueOffsets = append(r.ValueOffsets, uint32((i+1)*row))
	}
	for _, id := range []string{"paced-0-1", "paced-0-2"} {
		before := cfg.Pace.Waits()
		o := mustOpen(t, e, cfg, id)
		mustProduce(t, o, large("paced", pace.Least+1))
		most := 0
		for range batches {
			mustProduce(t, o, r)
			most = max(most, rdkafka.Queued(o))
		}
		if most > pace.Least/row {
			t.Errorf("%s: %d records of %d bytes waited, want at most %d", id, most, row, pace.Least/row)
		}
		if cfg.Pace.Waits() == before {
			t.Errorf("%s: no batch was paced", id)
		}
		sealed, err := o.Seal(testContext(t, 30*time.Second), batches*perBatch+1)
		if err != nil {
			t.Fatal(err)
		}
		sealed.Release()
	}
}

// TestThePaceIsLearntFromTheBroker: with the queue full all the time, the rate is known after some batches.
func TestThePaceIsLearntFromTheBroker(t *testing.T) {
	b, e := realBroker(t), newEngine(t)
	createTopic(t, b, "learnt", 1, nil)
	cfg := config(b.Addr())
	cfg.BufferBytes = 1 << 20
	cfg.Pace = pace.New(50 * time.Millisecond)
	o := mustOpen(t, e, cfg, "learnt-0-1")
	defer o.Discard()
	r := large("learnt", 256<<10)
	for range 400 {
		if mustProduce(t, o, r); cfg.Pace.Known() != 0 {
			return
		}
	}
	t.Error("the pace of the broker is not known after 100 MiB")
}

// TestNothingLingersWhereABarrierIsNear: the same batch stays in the queue for the linger, or is sent at once.
func TestNothingLingersWhereABarrierIsNear(t *testing.T) {
	b, e := realBroker(t), newEngine(t)
	createTopic(t, b, "hurried", 1, nil)
	cfg := config(b.Addr())
	linger := 20 * time.Second
	cfg.Linger = &linger
	cfg.Pace = pace.New(time.Minute)
	o := mustOpen(t, e, cfg, "hurried-0-1")
	defer o.Discard()
	// That nothing happens has no event to wait for.
	const unsent = 300 * time.Millisecond
	mustProduce(t, o, large("hurried", 100))
	time.Sleep(unsent)
	if got := o.Counters().Acknowledged; got != 0 {
		t.Fatalf("%d records were sent before their linger", got)
	}
	// A busy machine may miss the short time for which one batch is hurried; the next one takes all with it.
	for end := time.Now().Add(linger / 2); o.Counters().Acknowledged == 0; time.Sleep(unsent) {
		if time.Now().After(end) {
			t.Fatal("the records near a barrier have lingered")
		}
		cfg.Pace.Expect(time.Now())
		mustProduce(t, o, large("hurried", 100))
	}
}
