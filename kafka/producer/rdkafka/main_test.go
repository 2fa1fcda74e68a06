package rdkafka_test

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"testing"
	"time"

	"penstock.dev/penstock/integration/broker"
	"penstock.dev/penstock/kafka/producer"
	"penstock.dev/penstock/kafka/producer/rdkafka"
)

// shared is one real broker for all tests of this package, started by the first that wants it.
var shared struct {
	once   sync.Once
	broker *broker.Broker
	err    error
}

func TestMain(m *testing.M) {
	code := m.Run()
	if shared.broker != nil {
		shared.broker.Kill()
	}
	if secured.broker != nil {
		secured.broker.Kill()
	}
	if secured.dir != "" {
		os.RemoveAll(secured.dir)
	}
	os.Exit(code)
}

func realBroker(t *testing.T) *broker.Broker {
	t.Helper()
	shared.once.Do(func() {
		shared.broker, shared.err = broker.Start(context.Background(), broker.Options{})
	})
	if shared.err != nil {
		t.Fatal(shared.err)
	}
	return shared.broker
}

func testContext(t *testing.T, d time.Duration) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), d)
	t.Cleanup(cancel)
	return ctx
}

// newEngine makes an engine and sees at the end of the test that no producer of it is left.
func newEngine(t *testing.T) *rdkafka.Engine {
	t.Helper()
	level := slog.LevelError
	if testing.Verbose() {
		level = slog.LevelWarn
	}
	e, err := rdkafka.New(slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: level})))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		defer cancel()
		if err := e.Close(ctx); err != nil {
			t.Error(err)
		}
	})
	return e
}

// config is what a Flink job with default options asks for, with a shorter transaction timeout.
func config(servers ...string) producer.Config {
	return producer.Config{
		BootstrapServers:       servers,
		ClientID:               "penstock-test",
		Acks:                   -1,
		Idempotence:            true,
		DeliveryTimeout:        30 * time.Second,
		RequestTimeout:         30 * time.Second,
		MaxBlock:               30 * time.Second,
		TransactionTimeout:     time.Minute,
		BufferBytes:            32 << 20,
		MaxRequestBytes:        1 << 20,
		Compression:            "none",
		RetryBackoff:           100 * time.Millisecond,
		RetryBackoffMax:        time.Second,
		ReconnectBackoff:       50 * time.Millisecond,
		ReconnectBackoffMax:    time.Second,
		ConnectionSetupTimeout: 10 * time.Second,
		ConnectionsMaxIdle:     9 * time.Minute,
		MetadataMaxAge:         5 * time.Minute,
		MaxInFlight:            5,
	}
}

// rows makes n records for topic whose values begin with prefix.
func rows(topic, prefix string, n int) *producer.Records {
	r := &producer.Records{Topic: topic, ValueOffsets: []uint32{0}}
	for i := range n {
		r.Values = fmt.Appendf(r.Values, "%s-%d", prefix, i)
		r.ValueOffsets = append(r.ValueOffsets, uint32(len(r.Values)))
	}
	return r
}

// large makes one record of size bytes.
func large(topic string, size int) *producer.Records {
	return &producer.Records{Topic: topic, Values: make([]byte, size), ValueOffsets: []uint32{0, uint32(size)}}
}

func createTopic(t *testing.T, b *broker.Broker, name string, partitions int32, config map[string]string) {
	t.Helper()
	if err := b.CreateTopic(testContext(t, 30*time.Second), name, partitions, config); err != nil {
		t.Fatal(err)
	}
}

func mustOpen(t *testing.T, e producer.Engine, cfg producer.Config, id string) producer.Open {
	t.Helper()
	ready, err := e.Init(testContext(t, 30*time.Second), cfg, id)
	if err != nil {
		t.Fatal(err)
	}
	open, err := ready.Begin()
	if err != nil {
		t.Fatal(err)
	}
	return open
}

func mustProduce(t *testing.T, o interface {
	Produce(context.Context, *producer.Records) error
}, r *producer.Records) {
	t.Helper()
	if err := o.Produce(testContext(t, 30*time.Second), r); err != nil {
		t.Fatal(err)
	}
}
