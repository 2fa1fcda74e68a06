package rdkafka_test

import (
	"fmt"
	"testing"
	"time"

	"penstock.dev/penstock/integration/broker"
	"penstock.dev/penstock/kafka/epoch"
	"penstock.dev/penstock/kafka/producer"
)

// faultBound is how long a fault of the user may take to be told: far below max.block.ms and the delivery timeout.
const faultBound = 20 * time.Second

// requireCommitted commits a sealed epoch as Flink does later and sees that the topic then has so many committed rows.
func requireCommitted(t *testing.T, b *broker.Broker, who producer.Identity, topic string, want int) {
	t.Helper()
	ctx := testContext(t, 30*time.Second)
	if err := b.EndTransaction(ctx, who.TransactionalID, who.ProducerID, who.ProducerEpoch, true); err != nil {
		t.Fatalf("commit of %+v: %v", who, err)
	}
	if got, err := b.CommittedRecords(ctx, topic, want); err != nil || len(got) != want {
		t.Errorf("%d committed rows, want %d; error %v", len(got), want, err)
	}
}

// TestRightTakenAwayInTheMiddle: the epoch fails soon and names the right, and the epoch that was sealed before is committed.
func TestRightTakenAwayInTheMiddle(t *testing.T) {
	b := securedBroker(t)
	for name, c := range map[string]struct {
		taken func(topic, id string) broker.Grant
		want  string
	}{
		"topic": {func(topic, _ string) broker.Grant { return broker.Grant{Topic: topic} }, "grant WRITE on the topic"},
		"id":    {func(_, id string) broker.Grant { return broker.Grant{ID: id} }, "sink.transactional-id-prefix"},
	} {
		t.Run(name, func(t *testing.T) {
			topic := "taken-" + name
			createTopic(t, b, topic, 1, nil)
			if err := b.Allow(testContext(t, 30*time.Second), "frank", broker.Grant{Topic: topic, Write: true},
				broker.Grant{ID: topic + "-0-1", Write: true}, broker.Grant{ID: topic + "-0-2", Write: true}); err != nil {
				t.Fatal(err)
			}
			cfg := through(b, "SCRAM", &producer.Security{TLS: trusting(secured.trusted), SASL: scram(producer.MechanismScramSHA512, "frank")})
			cfg.Topics = []string{topic}
			e := newEngine(t)
			first := mustOpen(t, e, cfg, topic+"-0-1")
			mustProduce(t, first, rows(topic, "sealed", 5))
			sealed, err := first.Seal(testContext(t, 30*time.Second), 5)
			if err != nil {
				t.Fatal(err)
			}
			sealed.Release()

			second := mustOpen(t, e, cfg, topic+"-0-2")
			mustProduce(t, second, rows(topic, "open", 5))
			awaitAcknowledged(t, second, 5)
			if err := b.Revoke(testContext(t, 30*time.Second), "frank", c.taken(topic, topic+"-0-2")); err != nil {
				t.Fatal(err)
			}
			start := time.Now()
			err = second.Produce(testContext(t, 60*time.Second), rows(topic, "refused", 5))
			if err == nil {
				_, err = second.Seal(testContext(t, 60*time.Second), 10)
			} else {
				second.Discard()
			}
			requireRefusal(t, err, time.Since(start), []string{c.want, topic})
			requireCommitted(t, b, sealed.Identity(), topic, 5)
		})
	}
}

// TestPrefixOfTwoJobs: on one daemon the second job is refused before it sends anything. Two daemons know nothing of each other, so that
// the broker refuses the first job's open epoch. What is sealed is committed in both cases.
func TestPrefixOfTwoJobs(t *testing.T) {
	b := realBroker(t)
	ctx := testContext(t, 2*time.Minute)
	for name, daemons := range map[string]int{"one daemon": 1, "two daemons": 2} {
		t.Run(name, func(t *testing.T) {
			topic := fmt.Sprintf("two-jobs-%d", daemons)
			createTopic(t, b, topic, 1, nil)
			owners := []*epoch.Owners{{Patience: 100 * time.Millisecond}, {}}
			job := func(number int) *epoch.Writer {
				w := epoch.NewWriter(epoch.Options{Engine: newEngine(t), Config: config(b.Addr()), Transactional: true,
					Owners: owners[number%daemons], Owner: epoch.Owner{Job: fmt.Sprintf("job%d", number), Writer: uint64(number)}})
				t.Cleanup(func() {
					if err := w.Close(ctx); err != nil {
						t.Logf("closing job %d: %v", number, err)
					}
				})
				return w
			}
			first, second := job(0), job(1)
			sealed := mustSeal(t, first, 1, topic, 5)
			mustBegin(t, first, 2, topic)
			if err := first.Produce(ctx, rows(topic, "first", 5)); err != nil {
				t.Fatal(err)
			}
			start := time.Now()
			if daemons == 1 {
				_, err := second.Begin(ctx, 2, topic+"-0-2", nil)
				check(t, err, producer.Fenced, "(job job0, ", "(job job1, ", "sink.transactional-id-prefix", topic+"-0-2")
				other, err := first.Seal(ctx, 5)
				if err != nil {
					t.Fatalf("the first job: %v", err)
				}
				requireCommitted(t, b, sealed, topic, 5)
				requireCommitted(t, b, other.Identity, topic, 10)
			} else {
				other := mustSeal(t, second, 2, topic, 3)
				err := first.Produce(ctx, rows(topic, "late", 5))
				if err == nil {
					_, err = first.Seal(ctx, 10)
				}
				check(t, err, producer.Fenced, "sink.transactional-id-prefix", topic+"-0-2")
				requireCommitted(t, b, sealed, topic, 5)
				requireCommitted(t, b, other, topic, 8)
			}
			if took := time.Since(start); took > faultBound {
				t.Errorf("it took %v", took)
			}
		})
	}
}

func mustBegin(t *testing.T, w *epoch.Writer, number uint64, topic string) {
	t.Helper()
	if _, err := w.Begin(testContext(t, time.Minute), number, fmt.Sprintf("%s-0-%d", topic, number), nil); err != nil {
		t.Fatal(err)
	}
}

// mustSeal is a whole epoch.
func mustSeal(t *testing.T, w *epoch.Writer, number uint64, topic string, n int) producer.Identity {
	t.Helper()
	mustBegin(t, w, number, topic)
	if err := w.Produce(testContext(t, time.Minute), rows(topic, fmt.Sprint("epoch", number), n)); err != nil {
		t.Fatal(err)
	}
	sealed, err := w.Seal(testContext(t, time.Minute), int64(n))
	if err != nil {
		t.Fatal(err)
	}
	return sealed.Identity
}
