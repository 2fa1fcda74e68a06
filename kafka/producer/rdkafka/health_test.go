package rdkafka_test

import (
	"bytes"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"penstock.dev/penstock/integration/broker"
	"penstock.dev/penstock/kafka/producer"
	"penstock.dev/penstock/kafka/producer/rdkafka"
)

// journal is a log that may be read while it is written.
type journal struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (j *journal) Write(p []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.Write(p)
}

func (j *journal) String() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.String()
}

const healthy = "says that the transaction is healthy"

// TestOnlyAWarnedTransactionIsAskedForItsHealth: the question takes time in front of a barrier.
func TestOnlyAWarnedTransactionIsAskedForItsHealth(t *testing.T) {
	b, log := realBroker(t), &journal{}
	createTopic(t, b, "health", 1, nil)
	e, err := rdkafka.New(slog.New(slog.NewTextHandler(log, nil)))
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := e.Close(testContext(t, 20*time.Second)); err != nil {
			t.Error(err)
		}
	}()

	calm := mustOpen(t, e, config(b.Addr()), "health-0-1")
	mustProduce(t, calm, rows("health", "calm", 10))
	seal(t, calm, 10)
	if strings.Contains(log.String(), healthy) {
		t.Errorf("a transaction without any warning was asked for its health: %s", log)
	}

	warned := warn(t, b, e, log, "health-0-2")
	seal(t, warned, 20)
	if !strings.Contains(log.String(), healthy) {
		t.Errorf("a transaction with a warning was not asked for its health: %s", log)
	}

	broken := warn(t, b, e, log, "health-0-3")
	for end := time.Now().Add(20 * time.Second); rdkafka.Queued(broken) > 0 && time.Now().Before(end); {
		time.Sleep(10 * time.Millisecond)
	}
	if err := rdkafka.AbortBehind(testContext(t, 20*time.Second), broken); err != nil {
		t.Fatal(err)
	}
	_, err = broken.Seal(testContext(t, 20*time.Second), 20)
	check(t, err, producer.Internal, "health-0-3", "was not open when it was to be sealed")
}

func seal(t *testing.T, o producer.Open, rows int64) {
	t.Helper()
	sealed, err := o.Seal(testContext(t, 20*time.Second), rows)
	if err != nil {
		t.Fatal(err)
	}
	sealed.Release()
}

// warn makes a transaction of 20 rows in which librdkafka warns of a broker that does not answer for a while.
func warn(t *testing.T, b *broker.Broker, e *rdkafka.Engine, log *journal, id string) producer.Open {
	t.Helper()
	cfg := config(b.Addr())
	cfg.RequestTimeout = time.Second
	open := mustOpen(t, e, cfg, id)
	mustProduce(t, open, rows("health", "before", 10))
	if err := b.Pause(); err != nil {
		t.Fatal(err)
	}
	defer b.Resume()
	mustProduce(t, open, rows("health", "after", 10))
	for end := time.Now().Add(20 * time.Second); !warnedOf(log, id); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("librdkafka does not warn: %s", log)
		}
	}
	return open
}

func warnedOf(log *journal, id string) bool {
	for line := range strings.Lines(log.String()) {
		if strings.Contains(line, "level=WARN") && strings.Contains(line, id) {
			return true
		}
	}
	return false
}
