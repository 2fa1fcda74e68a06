package rdkafka_test

import (
	"os"
	"testing"
	"time"

	"penstock.dev/penstock/kafka/producer"
)

// awaitAcknowledged waits until the broker has taken so many rows.
func awaitAcknowledged(t *testing.T, o producer.Open, want int64) {
	t.Helper()
	deadline := time.Now().Add(20 * time.Second)
	for o.Counters().Acknowledged != want {
		if time.Now().After(deadline) {
			t.Fatalf("%+v, want %d acknowledged", o.Counters(), want)
		}
		time.Sleep(time.Millisecond)
	}
}

// TestTopicDeletedInTheMiddle: the rows behind the deletion fail the same epoch.
func TestTopicDeletedInTheMiddle(t *testing.T) {
	b, e := realBroker(t), newEngine(t)
	createTopic(t, b, "deleted", 1, nil)
	cfg := config(b.Addr())
	cfg.MaxBlock, cfg.DeliveryTimeout = 3*time.Second, 3*time.Second
	open := mustOpen(t, e, cfg, "deleted-0-1")
	mustProduce(t, open, rows("deleted", "before", 10))
	awaitAcknowledged(t, open, 10)
	if err := b.DeleteTopic(testContext(t, 30*time.Second), "deleted"); err != nil {
		t.Fatal(err)
	}
	if err := open.Produce(testContext(t, 30*time.Second), rows("deleted", "after", 10)); err != nil {
		open.Discard()
		check(t, err, producer.FailEpoch, `"deleted"`)
		return
	}
	_, err := open.Seal(testContext(t, 30*time.Second), 20)
	check(t, err, producer.FailEpoch, `"deleted"`)
}

// TestTopicRecreatedInTheMiddle: the new log knows nothing of the producer. Whatever the client makes of that, an epoch that is sealed
// has all its later rows in the new topic, each once (librdkafka 3672: acknowledged rows that the broker took for duplicates).
func TestTopicRecreatedInTheMiddle(t *testing.T) {
	b, e := realBroker(t), newEngine(t)
	createTopic(t, b, "recreated", 1, nil)
	cfg := config(b.Addr())
	cfg.DeliveryTimeout = 15 * time.Second
	open := mustOpen(t, e, cfg, "recreated-0-1")
	mustProduce(t, open, rows("recreated", "before", 10))
	awaitAcknowledged(t, open, 10)
	if err := b.DeleteTopic(testContext(t, 30*time.Second), "recreated"); err != nil {
		t.Fatal(err)
	}
	createTopic(t, b, "recreated", 1, nil)
	if err := open.Produce(testContext(t, 30*time.Second), rows("recreated", "after", 10)); err != nil {
		open.Discard()
		check(t, err, producer.FailEpoch, `"recreated"`)
		return
	}
	sealed, err := open.Seal(testContext(t, 30*time.Second), 20)
	if err != nil {
		check(t, err, producer.FailEpoch, `"recreated"`)
		return
	}
	sealed.Release()
	found, err := b.Records(testContext(t, 30*time.Second), "recreated", false)
	if err != nil || len(found) != 10 {
		t.Errorf("sealed with 10 rows behind the deletion, of which the topic has %d; error %v", len(found), err)
	}
}

// TestNothingHangsOnAStoppedBroker: initialising and giving up end by their own limits; closing the engine, which waits for every
// producer, too.
func TestNothingHangsOnAStoppedBroker(t *testing.T) {
	b, e := realBroker(t), newEngine(t)
	createTopic(t, b, "hang", 1, nil)
	open := mustOpen(t, e, config(b.Addr()), "hang-0-1")
	mustProduce(t, open, rows("hang", "x", 10))
	if err := b.Pause(); err != nil {
		t.Fatal(err)
	}
	defer b.Resume()
	start := time.Now()
	_, err := e.Init(testContext(t, 700*time.Millisecond), config(b.Addr()), "hang-0-2")
	check(t, err, producer.Retry, "hang-0-2")
	open.Discard()
	if err := e.Close(testContext(t, 20*time.Second)); err != nil {
		t.Error(err)
	}
	if took := time.Since(start); took > 20*time.Second {
		t.Errorf("it took %v", took)
	}
}

// TestThreadsAreGivenBack, by producers that were sealed and by those that never came to be.
func TestThreadsAreGivenBack(t *testing.T) {
	b, e := realBroker(t), newEngine(t)
	createTopic(t, b, "threads", 1, nil)
	before := threads(t)
	for range 15 {
		open := mustOpen(t, e, config(b.Addr()), "threads-0-1")
		open.Discard()
		if _, err := e.Init(testContext(t, 30*time.Millisecond), config("127.0.0.1:1"), "threads-0-2"); err == nil {
			t.Fatal("nobody listens there")
		}
	}
	if err := e.Close(testContext(t, 20*time.Second)); err != nil {
		t.Fatal(err)
	}
	// Those of the Go runtime stay; each producer had at least three.
	if after := threads(t); after > before+20 {
		t.Errorf("%d threads before 30 producers, %d after", before, after)
	}
}

func threads(t *testing.T) int {
	t.Helper()
	tasks, err := os.ReadDir("/proc/self/task")
	if err != nil {
		t.Fatal(err)
	}
	return len(tasks)
}
