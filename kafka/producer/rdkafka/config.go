package rdkafka

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"penstock.dev/penstock/kafka/producer"
)

// statisticsInterval is how often a transactional producer tells its own idea of its identity. It only advises
// (kafka.md 3), so that an epoch shorter than this goes without is fine; a whole JSON document per tick is not free.
const statisticsInterval = 2 * time.Second

// maxSocketBuffer is the largest buffer that librdkafka asks the system for.
const maxSocketBuffer = 100_000_000

// setting is one option of librdkafka.
type setting struct{ name, value string }

// mapper collects settings and everything that is wrong with them.
type mapper struct {
	out    []setting
	faults []error
}

func (m *mapper) set(name, value string) { m.out = append(m.out, setting{name, value}) }

func (m *mapper) fault(format string, args ...any) {
	m.faults = append(m.faults, fmt.Errorf(format, args...))
}

// number maps value to name when it lies in librdkafka's range; option is what the user wrote.
func (m *mapper) number(name, option string, value, low, high int64) {
	if value < low || value > high {
		m.fault("%s = %d cannot be mapped to librdkafka's %s: choose a value from %d to %d",
			option, value, name, low, high)
		return
	}
	m.set(name, strconv.FormatInt(value, 10))
}

func (m *mapper) millis(name, option string, d time.Duration, low, high int64) {
	m.number(name, option, d.Milliseconds(), low, high)
}

// settings translates cfg by the table in kafka.md 5.1; transactionalID "" is a producer without transactions.
func settings(cfg producer.Config, transactionalID string) ([]setting, error) {
	m := &mapper{}
	m.connections(cfg)
	m.security(cfg.Security)
	m.delivery(cfg)
	m.batching(cfg, transactionalID)
	m.transaction(cfg, transactionalID)
	if len(m.faults) > 0 {
		return nil, producer.Errorf(producer.BadRequest, "%w", errors.Join(m.faults...))
	}
	return m.out, nil
}

func (m *mapper) connections(cfg producer.Config) {
	for _, server := range cfg.BootstrapServers {
		if server == "" || strings.ContainsAny(server, ", \t") {
			m.fault("properties.bootstrap.servers holds %q: each entry must be one host:port", server)
		}
	}
	if len(cfg.BootstrapServers) == 0 {
		m.fault("properties.bootstrap.servers is empty: name at least one broker as host:port")
	}
	m.set("bootstrap.servers", strings.Join(cfg.BootstrapServers, ","))
	if cfg.ClientID != "" {
		m.set("client.id", cfg.ClientID)
	}
	m.millis("reconnect.backoff.ms", "properties.reconnect.backoff.ms", cfg.ReconnectBackoff, 0, 3_600_000)
	m.millis("reconnect.backoff.max.ms", "properties.reconnect.backoff.max.ms", cfg.ReconnectBackoffMax, 0, 3_600_000)
	m.millis("socket.connection.setup.timeout.ms", "properties.socket.connection.setup.timeout.ms",
		cfg.ConnectionSetupTimeout, 1000, math.MaxInt32)
	m.millis("connections.max.idle.ms", "properties.connections.max.idle.ms", cfg.ConnectionsMaxIdle, 0, math.MaxInt32)
	m.millis("metadata.max.age.ms", "properties.metadata.max.age.ms", cfg.MetadataMaxAge, 1, 86_400_000)
	// The refresh has a smaller range than the age; refreshing more often than asked for changes no result.
	m.set("topic.metadata.refresh.interval.ms", strconv.FormatInt(min(cfg.MetadataMaxAge.Milliseconds(), 3_600_000), 10))
	m.number("socket.send.buffer.bytes", "properties.send.buffer.bytes", int64(cfg.SendBufferBytes), 0, maxSocketBuffer)
	m.number("socket.receive.buffer.bytes", "properties.receive.buffer.bytes", int64(cfg.ReceiveBufferBytes), 0, maxSocketBuffer)
	if cfg.CanonicalBootstrap {
		m.set("client.dns.lookup", "resolve_canonical_bootstrap_servers_only")
	}
	m.recovery(cfg)
	if cfg.NoMetricsPush {
		m.set("enable.metrics.push", "false")
	}
	m.set("log.connection.close", "false")
	m.set("log_level", "6")
}

// recovery says what happens when none of the brokers that the client knows can be reached.
func (m *mapper) recovery(cfg producer.Config) {
	switch cfg.MetadataRecovery {
	case "":
	case "none", "rebootstrap":
		m.set("metadata.recovery.strategy", cfg.MetadataRecovery)
	default:
		m.fault("properties.metadata.recovery.strategy = %q is unknown: choose none or rebootstrap", cfg.MetadataRecovery)
	}
	if cfg.RebootstrapTrigger != nil {
		m.millis("metadata.recovery.rebootstrap.trigger.ms", "properties.metadata.recovery.rebootstrap.trigger.ms",
			*cfg.RebootstrapTrigger, 0, math.MaxInt32)
	}
}

func (m *mapper) delivery(cfg producer.Config) {
	if cfg.Acks != -1 && cfg.Acks != 0 && cfg.Acks != 1 {
		m.fault("properties.acks = %d is unknown: choose all (-1), 1 or 0", cfg.Acks)
	}
	m.set("acks", strconv.Itoa(cfg.Acks))
	// Acknowledgements are counted by an interceptor; see client.c.
	m.set("delivery.report.only.error", "true")
	// Always explicit: the defaults of the two clients differ.
	m.set("enable.idempotence", strconv.FormatBool(cfg.Idempotence))
	inFlight := int64(1_000_000)
	if cfg.Idempotence {
		inFlight = 5
		if cfg.Acks != -1 {
			m.fault("properties.acks = %d contradicts properties.enable.idempotence = true: set acks to all", cfg.Acks)
		}
	}
	m.number("max.in.flight.requests.per.connection", "properties.max.in.flight.requests.per.connection",
		int64(cfg.MaxInFlight), 1, inFlight)
	if cfg.Retries != nil {
		low := int64(0)
		if cfg.Idempotence {
			low = 1
		}
		m.number("retries", "properties.retries", int64(*cfg.Retries), low, math.MaxInt32)
	}
	// Java takes 0 as "retry at once"; librdkafka starts at 1.
	m.millis("retry.backoff.ms", "properties.retry.backoff.ms", max(cfg.RetryBackoff, time.Millisecond), 1, 300_000)
	m.millis("retry.backoff.max.ms", "properties.retry.backoff.max.ms",
		max(cfg.RetryBackoffMax, cfg.RetryBackoff, time.Millisecond), 1, 300_000)
	m.millis("request.timeout.ms", "properties.request.timeout.ms", cfg.RequestTimeout, 1, 900_000)
	// How long an unknown topic may still appear. Java waits for metadata as long as send() may block.
	m.millis("topic.metadata.propagation.max.ms", "properties.max.block.ms",
		min(cfg.MaxBlock, time.Hour), 1, 3_600_000)
	m.set("partitioner", "murmur2_random")
}

// linger is how long an unfinished batch waits for more rows. In a transaction nobody sees a row before the commit, and a flush does
// not wait, so longer costs nothing; with Java's 5 ms librdkafka's broker thread wakes up for the rest of every batch, which cost
// a third of the producer's CPU.
func linger(cfg producer.Config, id string) time.Duration {
	switch {
	case cfg.Linger != nil:
		return *cfg.Linger
	case id != "":
		return min(transactionLinger, cfg.DeliveryTimeout/2)
	default:
		return min(plainLinger, cfg.DeliveryTimeout/2)
	}
}

const (
	transactionLinger = 10 * time.Millisecond
	plainLinger       = 5 * time.Millisecond
)

func (m *mapper) batching(cfg producer.Config, id string) {
	m.millis("linger.ms", "properties.linger.ms", linger(cfg, id), 0, 900_000)
	if cfg.BatchBytes != 0 {
		m.number("batch.size", "properties.batch.size", int64(cfg.BatchBytes), 1, math.MaxInt32)
	}
	// Batches end by bytes or by linger; the default count of 10,000 would cut batches of small rows.
	m.set("batch.num.messages", "1000000")
	m.number("message.max.bytes", "properties.max.request.size", int64(cfg.MaxRequestBytes), 1000, 1_000_000_000)
	// The memory budget is the only limit of the queue; a count would make small rows wait for no reason.
	m.set("queue.buffering.max.messages", "0")
	buffer := cfg.QueueBytes()
	if buffer < 1024 {
		m.fault("properties.buffer.memory = %d is too small: choose at least 1024 bytes and more than the largest row", buffer)
	}
	m.number("queue.buffering.max.kbytes", "properties.buffer.memory", max(buffer/1024, 1), 1, math.MaxInt32)
	switch cfg.Compression {
	case "none", "gzip", "snappy", "lz4", "zstd":
		m.set("compression.codec", cfg.Compression)
	default:
		m.fault("properties.compression.type = %q is unknown: choose none, gzip, snappy, lz4 or zstd", cfg.Compression)
	}
	if cfg.CompressionLevel != nil {
		m.number("compression.level", "properties.compression."+cfg.Compression+".level",
			int64(*cfg.CompressionLevel), -1, 12)
	}
}

// transaction sets what depends on the guarantee: the delivery timeout and the wait for an answer, which librdkafka does not allow to be
// above the transaction timeout.
func (m *mapper) transaction(cfg producer.Config, id string) {
	timeout, answer := cfg.DeliveryTimeout, cfg.RequestTimeout
	if id != "" {
		if !cfg.Idempotence {
			m.fault("properties.enable.idempotence = false contradicts sink.delivery-guarantee = exactly-once: " +
				"remove the property")
		}
		m.set("transactional.id", id)
		m.millis("transaction.timeout.ms", "properties.transaction.timeout.ms", cfg.TransactionTimeout, 1000, math.MaxInt32)
		m.set("statistics.interval.ms", strconv.FormatInt(statisticsInterval.Milliseconds(), 10))
		timeout, answer = min(timeout, cfg.TransactionTimeout), min(answer, cfg.TransactionTimeout)
	}
	m.millis("socket.timeout.ms", "properties.request.timeout.ms", answer, 10, 300_000)
	// Zero would mean "for ever" to librdkafka.
	m.millis("message.timeout.ms", "properties.delivery.timeout.ms", timeout, 1, math.MaxInt32)
	if linger := linger(cfg, id); timeout > 0 && linger >= timeout {
		m.fault("properties.linger.ms = %d is not below the delivery timeout of %d ms: lower it or raise "+
			"properties.delivery.timeout.ms", linger.Milliseconds(), timeout.Milliseconds())
	}
}
