package rdkafka_test

import (
	"context"
	"net"
	"strings"
	"testing"
	"time"

	"penstock.dev/penstock/kafka/producer"
)

// check sees that err has the kind and says every one of the words.
func check(t *testing.T, err error, kind producer.Kind, words ...string) {
	t.Helper()
	if err == nil {
		t.Fatal("no error")
	}
	t.Logf("%v: %v", producer.KindOf(err), err)
	if got := producer.KindOf(err); got != kind {
		t.Errorf("kind %v, want %v", got, kind)
	}
	for _, w := range words {
		if !strings.Contains(err.Error(), w) {
			t.Errorf("the text lacks %q", w)
		}
	}
}

func TestRowLargerThanTheTopicTakes(t *testing.T) {
	b, e := realBroker(t), newEngine(t)
	createTopic(t, b, "small", 1, map[string]string{"max.message.bytes": "100000"})
	open := mustOpen(t, e, config(b.Addr()), "small-0-1")
	mustProduce(t, open, rows("small", "good", 10))
	mustProduce(t, open, large("small", 300_000))
	_, err := open.Seal(testContext(t, 30*time.Second), 11)
	check(t, err, producer.FailEpoch, `"small"`, "properties.max.request.size", "max.message.bytes")
}

// TestSmallTopicLimitIsNoFailure: the rows fit one by one, and Java's small batches fit too.
func TestSmallTopicLimitIsNoFailure(t *testing.T) {
	b, e := realBroker(t), newEngine(t)
	createTopic(t, b, "narrow", 1, map[string]string{"max.message.bytes": "20000"})
	cfg := config(b.Addr())
	cfg.Topics = []string{"narrow"}
	open := mustOpen(t, e, cfg, "narrow-0-1")
	mustProduce(t, open, rows("narrow", "a row of some length", 5000))
	sealed, err := open.Seal(testContext(t, 30*time.Second), 5000)
	if err != nil {
		t.Fatal(err)
	}
	sealed.Release()
}

// TestTheCauseIsToldAndNotThePurge: a row that is too large makes librdkafka purge the thousands behind it.
func TestTheCauseIsToldAndNotThePurge(t *testing.T) {
	b, e := realBroker(t), newEngine(t)
	createTopic(t, b, "purged", 1, map[string]string{"max.message.bytes": "100000"})
	cfg := config(b.Addr())
	cfg.Topics = []string{"purged"}
	open := mustOpen(t, e, cfg, "purged-0-1")
	mustProduce(t, open, large("purged", 300_000))
	var err error
	for i := 0; i < 20 && err == nil; i++ {
		err = open.Produce(testContext(t, 30*time.Second), rows("purged", "behind", 2000))
	}
	if err == nil {
		_, err = open.Seal(testContext(t, 30*time.Second), 40_001)
	} else {
		open.Discard()
	}
	check(t, err, producer.FailEpoch, `"purged"`, "properties.max.request.size", "max.message.bytes")
}

func TestRowLargerThanMaxRequestSize(t *testing.T) {
	b, e := realBroker(t), newEngine(t)
	createTopic(t, b, "request", 1, nil)
	cfg := config(b.Addr())
	cfg.MaxRequestBytes = 2000
	open := mustOpen(t, e, cfg, "request-0-1")
	defer open.Discard()
	err := open.Produce(testContext(t, 30*time.Second), large("request", 5000))
	check(t, err, producer.FailEpoch, `"request"`, "properties.max.request.size (now 2000 bytes)")
}

func TestUnknownTopic(t *testing.T) {
	b, e := realBroker(t), newEngine(t)
	cfg := config(b.Addr())
	cfg.MaxBlock = 3 * time.Second
	open := mustOpen(t, e, cfg, "unknown-0-1")
	mustProduce(t, open, rows("no-such-topic", "lost", 3))
	_, err := open.Seal(testContext(t, 30*time.Second), 3)
	check(t, err, producer.FailEpoch, `"no-such-topic"`, "create it")
}

func TestDeliveryTimeout(t *testing.T) {
	b, e := realBroker(t), newEngine(t)
	createTopic(t, b, "timeout", 1, nil)
	cfg := config(b.Addr())
	cfg.DeliveryTimeout = time.Second
	open := mustOpen(t, e, cfg, "timeout-0-1")
	mustProduce(t, open, rows("timeout", "good", 10))
	if err := b.Pause(); err != nil {
		t.Fatal(err)
	}
	defer b.Resume()
	mustProduce(t, open, rows("timeout", "late", 5))
	start := time.Now()
	_, err := open.Seal(testContext(t, 30*time.Second), 15)
	check(t, err, producer.FailEpoch, `"timeout"`, "properties.delivery.timeout.ms = 1000", b.Addr())
	if took := time.Since(start); took > 25*time.Second {
		t.Errorf("the failed seal took %v", took)
	}
}

func TestCancelledSealAndProduceReturn(t *testing.T) {
	b, e := realBroker(t), newEngine(t)
	createTopic(t, b, "cancel", 1, nil)
	cfg := config(b.Addr())
	cfg.BufferBytes = 1024
	full, open := mustOpen(t, e, cfg, "cancel-0-1"), mustOpen(t, e, cfg, "cancel-0-2")
	defer full.Discard()
	if err := b.Pause(); err != nil {
		t.Fatal(err)
	}
	defer b.Resume()
	ctx, cancel := context.WithTimeout(context.Background(), 300*time.Millisecond)
	defer cancel()
	start := time.Now()
	check(t, full.Produce(ctx, rows("cancel", "x", 1000)), producer.FailEpoch, "ended early")
	mustProduce(t, open, rows("cancel", "x", 1))
	_, err := open.Seal(ctx, 1)
	check(t, err, producer.FailEpoch, "ended early")
	if took := time.Since(start); took > 25*time.Second {
		t.Errorf("both took %v", took)
	}
}

func TestAbortIsBounded(t *testing.T) {
	b, e := realBroker(t), newEngine(t)
	createTopic(t, b, "abort-bound", 1, nil)
	open := mustOpen(t, e, config(b.Addr()), "abort-bound-0-1")
	mustProduce(t, open, rows("abort-bound", "x", 1))
	// Before the first row is acknowledged there may be nothing at the coordinator to abort.
	deadline := time.Now().Add(20 * time.Second)
	for open.Counters().Acknowledged != 1 {
		if time.Now().After(deadline) {
			t.Fatal("the row was not acknowledged")
		}
		time.Sleep(time.Millisecond)
	}
	if err := b.Pause(); err != nil {
		t.Fatal(err)
	}
	defer b.Resume()
	ctx, cancel := context.WithTimeout(context.Background(), 700*time.Millisecond)
	defer cancel()
	start := time.Now()
	check(t, open.Abort(ctx), producer.FailEpoch, "abort-bound-0-1", "properties.transaction.timeout.ms = 60000")
	if took := time.Since(start); took > 25*time.Second {
		t.Errorf("it took %v", took)
	}
}

func TestFullQueueNamesTheOptions(t *testing.T) {
	b, e := realBroker(t), newEngine(t)
	createTopic(t, b, "full", 1, nil)
	cfg := config(b.Addr())
	cfg.BufferBytes = 1024
	if err := b.Pause(); err != nil {
		t.Fatal(err)
	}
	defer b.Resume()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	cfg.MaxBlock = 300 * time.Millisecond
	p, err := e.OpenPlain(ctx, cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	check(t, p.Produce(ctx, rows("full", "x", 1000)), producer.FailEpoch,
		"properties.buffer.memory = 1024", "properties.max.block.ms = 300")
}

func TestTransactionTimeoutAboveTheBrokersMaximum(t *testing.T) {
	b, e := realBroker(t), newEngine(t)
	cfg := config(b.Addr())
	cfg.TransactionTimeout = 7_200_001 * time.Millisecond
	_, err := e.Init(testContext(t, 30*time.Second), cfg, "long-0-1")
	check(t, err, producer.BadRequest, "properties.transaction.timeout.ms = 7200001", "transaction.max.timeout.ms = 7200000")
}

func TestRowCountMismatch(t *testing.T) {
	b, e := realBroker(t), newEngine(t)
	createTopic(t, b, "count", 1, nil)
	open := mustOpen(t, e, config(b.Addr()), "count-0-1")
	mustProduce(t, open, rows("count", "x", 10))
	_, err := open.Seal(testContext(t, 30*time.Second), 11)
	check(t, err, producer.FailEpoch, "handed over 11 rows", "accepted 10")
}

func TestNoBroker(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := l.Addr().String()
	l.Close()
	e := newEngine(t)
	cfg := config(addr)
	cfg.MaxBlock = 1500 * time.Millisecond
	start := time.Now()
	_, err = e.Init(testContext(t, 30*time.Second), cfg, "nobody-0-1")
	check(t, err, producer.Retry, "properties.bootstrap.servers = "+addr, "properties.max.block.ms = 1500")
	if took := time.Since(start); took < time.Second || took > 25*time.Second {
		t.Errorf("init took %v", took)
	}

	ctx, cancel := context.WithTimeout(context.Background(), 200*time.Millisecond)
	defer cancel()
	start = time.Now()
	if _, err = e.Init(ctx, cfg, "nobody-0-1"); err == nil || time.Since(start) > 5*time.Second {
		t.Errorf("a cancelled init returned %v after %v", err, time.Since(start))
	}
}
