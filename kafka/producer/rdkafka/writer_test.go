package rdkafka_test

import (
	"fmt"
	"testing"
	"time"

	"penstock.dev/penstock/kafka/epoch"
	"penstock.dev/penstock/kafka/producer"
	"penstock.dev/penstock/kafka/producer/rdkafka"
)

// TestStatisticsAgreeWithTheCoordinator, and a seal fails when they do not.
func TestStatisticsAgreeWithTheCoordinator(t *testing.T) {
	b, e := realBroker(t), newEngine(t)
	createTopic(t, b, "stats", 1, nil)
	good, bad := mustOpen(t, e, config(b.Addr()), "stats-0-1"), mustOpen(t, e, config(b.Addr()), "stats-0-2")
	for _, o := range []producer.Open{good, bad} {
		mustProduce(t, o, rows("stats", "x", 1))
		deadline := time.Now().Add(20 * time.Second)
		for {
			id, epoch, seen := rdkafka.ClientIdentity(o)
			if seen {
				if who := o.Identity(); id != who.ProducerID || epoch != who.ProducerEpoch {
					t.Errorf("statistics %d/%d, coordinator %+v", id, epoch, who)
				}
				break
			}
			if time.Now().After(deadline) {
				t.Fatal("no statistics")
			}
			time.Sleep(10 * time.Millisecond)
		}
	}
	sealed, err := good.Seal(testContext(t, 30*time.Second), 1)
	if err != nil {
		t.Fatal(err)
	}
	sealed.Release()
	who := bad.Identity()
	who.ProducerEpoch++
	rdkafka.Pretend(bad, who)
	_, err = bad.Seal(testContext(t, 30*time.Second), 1)
	check(t, err, producer.Fenced, "stats-0-2", "another attempt")
}

// TestWriterOnARealBroker runs epochs, a gap and an abort as a sink writer does, and commits what was sealed; with every option for its
// connections, which changes nothing.
func TestWriterOnARealBroker(t *testing.T) {
	b, e := realBroker(t), newEngine(t)
	createTopic(t, b, "writer", 2, nil)
	cfg, trigger := config(b.Addr()), 7*time.Second
	cfg.SendBufferBytes, cfg.ReceiveBufferBytes, cfg.CanonicalBootstrap, cfg.NoMetricsPush = 1<<18, 1<<16, true, true
	cfg.MetadataRecovery, cfg.RebootstrapTrigger = "none", &trigger
	w := epoch.NewWriter(epoch.Options{Engine: e, Config: cfg, Transactional: true, WarmPool: true})
	ctx := testContext(t, 60*time.Second)
	id := func(n int) string { return fmt.Sprintf("writer-0-%d", n) }
	const perEpoch = 700
	for n := 1; n <= 4; n++ {
		var gaps []string
		if n == 3 {
			gaps = []string{"writer-0-gap"}
		}
		start := time.Now()
		r, err := w.Begin(ctx, uint64(n), id(n), gaps)
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("epoch %d: begin took %v, %+v", n, time.Since(start), r)
		if err := w.Warm(id(n + 1)); err != nil {
			t.Fatal(err)
		}
		if err := w.Produce(ctx, rows("writer", id(n), perEpoch)); err != nil {
			t.Fatal(err)
		}
		sealed, err := w.Seal(ctx, perEpoch)
		if err != nil {
			t.Fatal(err)
		}
		who := sealed.Identity
		if err := b.EndTransaction(ctx, who.TransactionalID, who.ProducerID, who.ProducerEpoch, true); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := w.Begin(ctx, 5, id(5), nil); err != nil {
		t.Fatal(err)
	}
	if err := w.Produce(ctx, rows("writer", "unsealed", 10)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(ctx); err != nil {
		t.Fatal(err)
	}
	awaitCommitted(t, "writer", 4*perEpoch)
}

// awaitCommitted: commit markers land a little after the commit is answered.
func awaitCommitted(t *testing.T, topic string, want int) {
	t.Helper()
	deadline := time.Now().Add(20 * time.Second)
	for {
		seen, err := realBroker(t).Records(testContext(t, 30*time.Second), topic, true)
		if err == nil && len(seen) == want {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%d of %d rows visible, error %v", len(seen), want, err)
		}
	}
}
