package main

import (
	"context"
	"log/slog"
	"os"
	"time"

	"penstock.dev/penstock/integration/broker"
	"penstock.dev/penstock/kafka/producer"
	"penstock.dev/penstock/kafka/producer/rdkafka"
)

// chunkBytes is about what one encoded batch of the sink has.
const chunkBytes = 1 << 20

// native produces through the engine, in this process.
type native struct {
	engine *rdkafka.Engine
	broker *broker.Broker
}

func newNative(b *broker.Broker) (*native, error) {
	engine, err := rdkafka.New(slog.New(slog.DiscardHandler))
	return &native{engine, b}, err
}

func (n *native) name() string { return "penstock" }

func (n *native) pid() int { return os.Getpid() }

// config has the Java producer's defaults, as the sink hands them over.
func (n *native) config(c cell, topic string) producer.Config {
	return producer.Config{
		Topics: []string{topic}, BootstrapServers: []string{n.broker.Addr()}, Acks: -1, Idempotence: true,
		DeliveryTimeout: 2 * time.Minute, RequestTimeout: 30 * time.Second, MaxBlock: time.Minute, TransactionTimeout: 10 * time.Minute,
		MaxRequestBytes: 1 << 20, Compression: c.Compression, RetryBackoff: 100 * time.Millisecond, RetryBackoffMax: time.Second,
		ReconnectBackoff: 50 * time.Millisecond, ReconnectBackoffMax: time.Second, ConnectionSetupTimeout: 10 * time.Second,
		ConnectionsMaxIdle: 9 * time.Minute, MetadataMaxAge: 5 * time.Minute, MaxInFlight: 5,
	}
}

// produce writes one transaction and returns the time from the first record to the end of the proof.
func (n *native) produce(ctx context.Context, c cell, id, topic string, pool []byte, _ string) (time.Duration, error) {
	ready, err := n.engine.Init(ctx, n.config(c, topic), id)
	if err != nil {
		return 0, err
	}
	open, err := ready.Begin()
	if err != nil {
		return 0, err
	}
	chunks := chunksOf(c, topic, pool)
	start := time.Now()
	for range c.rows() / poolValues {
		for _, chunk := range chunks {
			if err := open.Produce(ctx, chunk); err != nil {
				open.Discard()
				return 0, err
			}
		}
	}
	sealed, err := open.Seal(ctx, int64(c.rows()))
	if err != nil {
		return 0, err
	}
	took := time.Since(start)
	who := sealed.Identity()
	sealed.Release()
	return took, n.broker.EndTransaction(ctx, who.TransactionalID, who.ProducerID, who.ProducerEpoch, true)
}

// chunksOf are the values of the pool as encoded batches.
func chunksOf(c cell, topic string, pool []byte) []*producer.Records {
	perChunk := min(max(chunkBytes/c.Size, 1), poolValues)
	var chunks []*producer.Records
	for from := 0; from < poolValues; from += perChunk {
		to := min(from+perChunk, poolValues)
		offsets := make([]uint32, to-from+1)
		for i := range offsets {
			offsets[i] = uint32(i * c.Size)
		}
		chunks = append(chunks, &producer.Records{Topic: topic, Values: pool[from*c.Size : to*c.Size], ValueOffsets: offsets})
	}
	return chunks
}

func (n *native) close() error {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	return n.engine.Close(ctx)
}
