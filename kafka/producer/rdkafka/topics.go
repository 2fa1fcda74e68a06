package rdkafka

import (
	"context"
	"strconv"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"

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
	// count is the number of all partitions, 0 when it could not be learned.
	count int
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
	if entry, ok := t.fresh(key); ok {
		return entry
	}
	t.learn(ctx, d, cfg, topic)
	entry, _ := t.fresh(key)
	return entry
}

// fresh returns what is known and not too old.
func (t *topics) fresh(key topicKey) (topicEntry, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	entry, ok := t.known[key]
	return entry, ok && time.Now().Before(entry.until)
}

// learn asks the cluster for all names at once.
func (t *topics) learn(ctx context.Context, d *identities, cfg producer.Config, names ...string) {
	entries := d.describeTopics(ctx, cfg, names)
	t.mu.Lock()
	defer t.mu.Unlock()
	for name, entry := range entries {
		t.known[topicKey{clusterKey(cfg), name}] = entry
	}
}

// limit is the smallest known max.message.bytes of the topics in cfg, 0 when none is known.
func (t *topics) limit(ctx context.Context, d *identities, cfg producer.Config) int {
	var missing []string
	for _, name := range cfg.Topics {
		if _, ok := t.fresh(topicKey{clusterKey(cfg), name}); !ok {
			missing = append(missing, name)
		}
	}
	if len(missing) > 0 {
		t.learn(ctx, d, cfg, missing...)
	}
	limit := 0
	for _, name := range cfg.Topics {
		entry, _ := t.fresh(topicKey{clusterKey(cfg), name})
		if entry.maxMessageBytes > 0 && (limit == 0 || entry.maxMessageBytes < limit) {
			limit = entry.maxMessageBytes
		}
	}
	return limit
}

// forget makes the next producer look again: the topic was not what it was thought to be.
func (t *topics) forget(cfg producer.Config, topic string) {
	t.mu.Lock()
	delete(t.known, topicKey{clusterKey(cfg), topic})
	t.mu.Unlock()
}

// fitBatches lowers the batch size to what every topic accepts: librdkafka cannot split a batch that the broker finds too large, and
// Java's batches of 16 KiB fit where librdkafka's of 1 MB do not.
func (e *Engine) fitBatches(ctx context.Context, cfg producer.Config) producer.Config {
	limit := e.topics.limit(ctx, e.identities, cfg)
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

// describeTopics asks the cluster; the answer on a topic is good for a short time only when something is missing.
func (d *identities) describeTopics(ctx context.Context, cfg producer.Config, names []string) map[string]topicEntry {
	ctx, cancel := context.WithTimeout(ctx, lookUpTimeout)
	defer cancel()
	entries := make(map[string]topicEntry, len(names))
	for _, name := range names {
		entries[name] = topicEntry{until: time.Now().Add(min(cfg.MetadataMaxAge, unknownFor))}
	}
	cl, release, err := d.acquire(cfg)
	if err != nil {
		return entries
	}
	defer release()
	all, err := cl.ListTopics(ctx, names...)
	if err != nil {
		return entries
	}
	for name, entry := range entries {
		if topic, ok := all[name]; ok && topic.Err == nil {
			entry.describe(topic.Partitions.Sorted(), cfg.MetadataMaxAge)
			entries[name] = entry
		}
	}
	configs, err := cl.DescribeTopicConfigs(ctx, names...)
	if err != nil {
		return entries
	}
	for _, c := range configs {
		if entry, ok := entries[c.Name]; ok && c.Err == nil {
			entry.maxMessageBytes = maxMessageBytes(c.Configs)
			entries[c.Name] = entry
		}
	}
	return entries
}

// describe takes over all partitions of the topic; they are known for maxAge when each has a leader.
func (t *topicEntry) describe(all []kadm.PartitionDetail, maxAge time.Duration) {
	t.count = len(all)
	for _, p := range all {
		if p.Err == nil && p.Leader >= 0 {
			t.partitions = append(t.partitions, p.Partition)
		}
	}
	if t.count > 0 && len(t.partitions) == t.count {
		t.until = time.Now().Add(maxAge)
	}
}

func maxMessageBytes(configs []kadm.Config) int {
	for _, c := range configs {
		if c.Key == "max.message.bytes" {
			bytes, _ := strconv.Atoi(c.MaybeValue())
			return bytes
		}
	}
	return 0
}
