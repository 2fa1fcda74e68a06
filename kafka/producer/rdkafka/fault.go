package rdkafka

/*
#include "penstock_rdkafka.h"
*/
import "C"

import (
	"context"
	"fmt"
	"strings"
	"time"

	"penstock.dev/penstock/kafka/producer"
)

// result is one outcome of a C call; code 0 is success.
type result struct {
	code             int
	fatal, retriable bool
	text, topic      string
}

func goResult(r *C.ps_result) result {
	return result{
		code:      int(r.code),
		fatal:     r.fatal != 0,
		retriable: r.retriable != 0,
		text:      C.GoString(&r.text[0]),
		topic:     C.GoString(&r.topic[0]),
	}
}

func fault(kind producer.Kind, code int, format string, args ...any) *producer.Error {
	e := producer.Errorf(kind, format, args...)
	e.Code = code
	return e
}

// fault turns what C answered into an error that says what to do. It is the only classifier of this engine.
func (c *client) fault(doing string, r result) *producer.Error {
	if s := c.snapshot(); r.code == C.PS_ERR_FATAL && s.fatal.code != 0 {
		r = s.fatal
	}
	switch r.code {
	case C.PS_ERR_FENCED, C.PS_ERR_PRODUCER_FENCED, C.PS_ERR_BAD_EPOCH:
		return fault(producer.Fenced, r.code, "%s of %s: the broker refused the producer's epoch (%s): another attempt has "+
			"taken the transactional id over; or another sink or job, perhaps at another daemon, has the same "+
			"sink.transactional-id-prefix: give each one of its own; or the transaction was open for longer than "+
			"properties.transaction.timeout.ms = %d and was aborted", doing, c.what(), r.text, c.cfg.TransactionTimeout.Milliseconds())
	case C.PS_ERR_AUTHENTICATION, C.PS_ERR_SSL:
		return c.refused(doing, r)
	case C.PS_ERR_MSG_TOO_LARGE, C.PS_ERR_RECORDS_TOO_LARGE:
		return c.tooLarge(r, r.topic)
	case C.PS_ERR_UNKNOWN_TOPIC, C.PS_ERR_UNKNOWN_TOPIC_PART, C.PS_ERR_UNKNOWN_PARTITION:
		return unknownTopic(r, r.topic)
	case C.PS_ERR_MSG_TIMED_OUT:
		return c.deliveryTimeout(r)
	case C.PS_ERR_BAD_TXN_TIMEOUT:
		return badTransactionTimeout(c.cfg, 0)
	case C.PS_ERR_TOPIC_AUTH:
		return fault(producer.BadRequest, r.code, "%s: topic %q may not be written by this user: grant WRITE on the topic, "+
			"and do not deny it DESCRIBE", doing, r.topic)
	case C.PS_ERR_INVALID_TIMESTAMP:
		return fault(producer.FailEpoch, r.code, "%s: topic %q refuses the timestamp of a record (%s): correct the metadata column "+
			"'timestamp' of the rows, or the topic's message.timestamp.before.max.ms and message.timestamp.after.max.ms", doing, r.topic, r.text)
	case C.PS_ERR_TXN_ID_AUTH:
		return mayNotUse(c.id)
	default:
		return fault(producer.FailEpoch, r.code, "%s of %s: %s (code %d)", doing, c.what(), r.text, r.code)
	}
}

// refused words that a broker does not let the client in. The check before each producer words it better, so this is what changed
// since.
func (c *client) refused(doing string, r result) *producer.Error {
	option := "properties.ssl.truststore.*, which must hold the root of the broker's chain, at properties.ssl.keystore.* and at the " +
		"certificate of the broker"
	if r.code == C.PS_ERR_AUTHENTICATION {
		option = "properties.sasl.mechanism, properties.sasl.jaas.config and the user on the broker"
	}
	return fault(producer.BadRequest, r.code, "%s of %s: the broker at %s and this client do not accept each other (%s): look at %s",
		doing, c.what(), c.servers(), r.text, option)
}

func (c *client) tooLarge(r result, topic string) *producer.Error {
	return fault(producer.FailEpoch, r.code, "a row for topic %q is larger than Kafka accepts (%s): raise "+
		"properties.max.request.size (now %d bytes) and the topic's max.message.bytes, or make the row smaller",
		topic, r.text, c.cfg.MaxRequestBytes)
}

func unknownTopic(r result, topic string) *producer.Error {
	return fault(producer.FailEpoch, r.code, "topic %q does not exist on the broker (%s): create it, or correct the option "+
		"`topic`", topic, r.text)
}

func (c *client) deliveryTimeout(r result) *producer.Error {
	limit := c.cfg.DeliveryTimeout
	option := "properties.delivery.timeout.ms"
	if c.id != "" && c.cfg.TransactionTimeout < limit {
		limit, option = c.cfg.TransactionTimeout, "properties.transaction.timeout.ms"
	}
	return fault(producer.FailEpoch, r.code, "a row for topic %q was not acknowledged within %s = %d: the broker at %s is slow "+
		"or down%s", r.topic, option, limit.Milliseconds(), c.servers(), c.lastSeen())
}

// badTransactionTimeout has both numbers when the broker told its maximum, else limit is 0.
func badTransactionTimeout(cfg producer.Config, limit time.Duration) *producer.Error {
	broker := "the broker's transaction.max.timeout.ms"
	if limit > 0 {
		broker += fmt.Sprintf(" = %d", limit.Milliseconds())
	}
	return fault(producer.BadRequest, C.PS_ERR_BAD_TXN_TIMEOUT, "properties.transaction.timeout.ms = %d is above %s: lower the "+
		"property, or raise the maximum on the broker", cfg.TransactionTimeout.Milliseconds(), broker)
}

// mayNotUse is the answer of an authorizer.
func mayNotUse(id string) *producer.Error {
	return fault(producer.BadRequest, C.PS_ERR_TXN_ID_AUTH, "the transactional id %q may not be used by this user: grant WRITE and "+
		"DESCRIBE on ids with the prefix in sink.transactional-id-prefix", id)
}

// initFault is a final refusal of init_transactions.
func (c *client) initFault(ctx context.Context, r result) error {
	if r.code == C.PS_ERR_BAD_TXN_TIMEOUT {
		return badTransactionTimeout(c.cfg, c.engine.identities.maxTransactionTimeout(ctx, c.cfg))
	}
	return c.fault("initialising", r)
}

// initTimeout: no answer within the deadline. Nothing is lost, because nothing was open.
func (c *client) initTimeout(ctx context.Context, r result) error {
	return &producer.Error{
		Kind: producer.Retry,
		Code: r.code,
		Text: fmt.Sprintf("initialising %s: no transaction coordinator answered in time (%v; %s): check that the brokers at "+
			"properties.bootstrap.servers = %s are up, reachable from this node and speak properties.security.protocol = %s there, or "+
			"raise properties.max.block.ms = %d%s",
			c.what(), ctx.Err(), r.text, c.servers(), c.cfg.Security.Protocol(), c.cfg.MaxBlock.Milliseconds(), c.lastSeen()),
		Cause: ctx.Err(),
	}
}

// produceFault says why the record after the first `accepted` of r was not accepted.
func (c *client) produceFault(ctx context.Context, res result, r *producer.Records, accepted int) error {
	// A delivery that failed earlier explains why librdkafka takes nothing more.
	if err := c.err(); err != nil {
		return err
	}
	res.topic = r.Topic
	if res.code != C.PS_ERR_QUEUE_FULL {
		return c.causeFault("producing", res)
	}
	if err := ended(ctx); err != nil {
		return producer.Errorf(producer.FailEpoch, "producing to topic %q ended early: %w", r.Topic, err)
	}
	size := r.Size(accepted, accepted+1)
	return fault(producer.FailEpoch, res.code, "the producer's queue of properties.buffer.memory = %d bytes had no room for a row "+
		"of %d bytes within properties.max.block.ms = %d: the broker at %s is slower than the rows come, or down%s",
		c.cfg.QueueBytes(), size, c.cfg.MaxBlock.Milliseconds(), c.servers(), c.lastSeen())
}

func (c *client) servers() string { return strings.Join(c.cfg.BootstrapServers, ",") }

// lastSeen adds what the client last reported about its connections; it may be old, so it is only added to the text.
func (c *client) lastSeen() string {
	if last := c.snapshot().lastError; last.code != 0 {
		return "; last seen: " + last.text
	}
	return ""
}
