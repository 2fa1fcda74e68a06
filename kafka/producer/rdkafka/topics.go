package rdkafka

import (
	"context"
	"strconv"
	"sync"
	"time"

	"penstock.dev/penstock/kafka/producer"
)

const (
	// unknownFor is how soon a topic is looked up again when it could not be learned, or when a partition had no leader.
	unknownFor = 5 * time.Second
	// lookUpTimeout bounds the wait for what is only an advantage to know.
	lookUpTimeout = time.Second
	// largestBatch is librdkafka's default for batch.size.
	largestBatch = 1_000_000
	// batchOverhead is what a record batch has around its records, generously.
	batchOverhead = 512
)

// topics remembers what the producers of an engine need to know of topics. It is safe for concurrent use.
type topics struct {
	mu    sync.Mutex
	known map[topicKey]topicEntry
}

type topicKey struct{ servers, topic string }

// topicEntry is what a topic was like at most Config.MetadataMaxAge ago.
type topicEntry struct {
	// partitions that have a leader; empty when they could not be learned.
	partitions []int32
	// maxMessageBytes is the topic's max.message.bytes, 0 when it could not be learned (it needs DESCRIBE_CONFIGS).
	maxMessageBytes int
	until           time.Time
}

func newTopics() *topics { return &topics{known: map[topicKey]topicEntry{}} }

// get returns what is known of topic and asks the cluster when that is nothing or too old. That a topic cannot be learned is no
// error here: librdkafka finds the reason and words it better.
func (t *topics) get(ctx context.Context, d *identities, cfg producer.Config, topic string) topicEntry {
	key := topicKey{clusterKey(cfg), topic}
	t.mu.Lock()
	entry, ok := t.known[key]
	t.mu.Unlock()
	if ok && time.Now().Before(entry.until) {
		return entry
	}
	entry = d.describeTopic(ctx, cfg, topic)
	t.mu.Lock()
	t.known[key] = entry
	t.mu.Unlock()
	return entry
}

// forget makes the next producer look again: the topic was not what it was thought to be.
func (t *topics) forget(cfg producer.Config, topic string) {
	t.mu.Lock()
	delete(t.known, topicKey{clusterKey(cfg), topic})
	t.mu.Unlock()
}

// fitBatches lowers the batch size to what the topic accepts: librdkafka cannot split a batch that the broker finds too large, and
// Java's batches of 16 KiB fit where librdkafka's of 1 MB do not.
func (e *Engine) fitBatches(ctx context.Context, cfg producer.Config) producer.Config {
	if cfg.Topic == "" {
		return cfg
	}
	limit := e.topics.get(ctx, e.identities, cfg, cfg.Topic).maxMessageBytes
	if limit == 0 {
		return cfg
	}
	fits := max(limit-batchOverhead, 1)
	if cfg.BatchBytes == 0 {
		cfg.BatchBytes = largestBatch
	}
	cfg.BatchBytes = min(cfg.BatchBytes, fits)
	return cfg
}

// describeTopic asks the cluster; the answer is good for a short time only when something is missing.
func (d *identities) describeTopic(ctx context.Context, cfg producer.Config, topic string) topicEntry {
	ctx, cancel := context.WithTimeout(ctx, lookUpTimeout)
	defer cancel()
	entry := topicEntry{until: time.Now().Add(min(cfg.MetadataMaxAge, unknownFor))}
	cl, release, err := d.acquire(cfg)
	if err != nil {
		return entry
	}
	defer release()
	all, err := cl.ListTopics(ctx, topic)
	if err != nil || all[topic].Err != nil {
		return entry
	}
	sorted := all[topic].Partitions.Sorted()
	for _, p := range sorted {
		if p.Err == nil && p.Leader >= 0 {
			entry.partitions = append(entry.partitions, p.Partition)
		}
	}
	if len(entry.partitions) == len(sorted) {
		entry.until = time.Now().Add(cfg.MetadataMaxAge)
	}
	configs, err := cl.DescribeTopicConfigs(ctx, topic)
	if err != nil || len(configs) != 1 || configs[0].Err != nil {
		return entry
	}
	for _, c := range configs[0].Configs {
		if c.Key == "max.message.bytes" {
			entry.maxMessageBytes, _ = strconv.Atoi(c.MaybeValue())
		}
	}
	return entry
}
