package rdkafka

/*
#cgo CFLAGS: -O2 -Wall -Wextra -std=gnu11
#include <stdlib.h>
#include <string.h>
#include "penstock_rdkafka.h"
*/
import "C"

import (
	"context"
	"fmt"
	"log/slog"
	"runtime/cgo"
	"time"
	"unsafe"

	// Carries librdkafka's static library into the link; see doc.go.
	_ "github.com/confluentinc/confluent-kafka-go/v2/kafka"

	"penstock.dev/penstock/kafka/producer"
	"penstock.dev/penstock/kafka/producer/pace"
)

// txnSlice is the longest uninterrupted wait inside rd_kafka_init_transactions and rd_kafka_abort_transaction, which resume
// where they left off when they are called again.
const txnSlice = 500 * time.Millisecond

// initSlice is the first wait inside rd_kafka_init_transactions; each that passes is followed by one twice as long, up to txnSlice. The
// library looks for its coordinator once, a millisecond after the call, and after a failure again in half a second. It does fail on a
// quiet cluster: the first connection is often not up yet, or it is being closed, because the library gives the bootstrap server up for the
// broker that it turned out to be, together with the questions under way there. A new call asks at once.
const initSlice = 10 * time.Millisecond

// reportSlack is how much later than the delivery timeout the report of an expired record may come: librdkafka looks for
// expired records once a second.
const reportSlack = 5 * time.Second

// client is one librdkafka producer. Its methods are called by one goroutine at a time; snapshot and failed by any.
type client struct {
	p      *C.ps_client
	cfg    producer.Config
	id     string
	engine *Engine
	log    cgo.Handle
	// relay carries the connections to the coordinator; nil without transactions.
	relay *relay
	// targets are the topics produced to; only the producing goroutine reads them.
	targets map[string]*target
	// meter is nil when Config.Pace is; of the producing goroutine, too.
	meter *pace.Meter
}

func checkVersion() error {
	v := C.ps_check_version()
	if v == 0 {
		return nil
	}
	return producer.Errorf(producer.Internal, "the linked librdkafka has version 0x%08x, Penstock needs 0x%08x: build with "+
		"the pinned confluent-kafka-go and without the build tag `dynamic`", uint32(v), uint32(C.PS_RDKAFKA_VERSION))
}

func versionText() string { return C.GoString(C.rd_kafka_version_str()) }

// newClient creates a producer; id "" makes one without transactions. Its initialisation is of the lease in cfg.
func (e *Engine) newClient(cfg producer.Config, id string) (*client, error) {
	options, err := settings(cfg, id)
	if err != nil {
		return nil, err
	}
	log := e.log
	if id != "" {
		log = log.With(slog.String("transactional_id", id))
	}
	c := &client{cfg: cfg, id: id, engine: e, log: cgo.NewHandle(log), targets: map[string]*target{}, meter: cfg.Pace.Meter()}
	var dial C.uintptr_t
	if id != "" {
		c.relay = newRelay(cfg)
		dial = C.uintptr_t(c.relay.handle)
	}
	names, values := cStrings(options)
	defer freeStrings(names)
	defer freeStrings(values)
	var r C.ps_result
	c.p = C.ps_new(&names[0], &values[0], C.int(len(options)), C.uintptr_t(c.log), dial, &r)
	if c.p == nil {
		c.log.Delete()
		c.relay.close()
		return nil, producer.Errorf(producer.BadRequest, "librdkafka refused the configuration: %s", C.GoString(&r.text[0]))
	}
	e.producers.Add(1)
	return c, nil
}

func cStrings(options []setting) (names, values []*C.char) {
	for _, o := range options {
		names = append(names, C.CString(o.name))
		values = append(values, C.CString(o.value))
	}
	return names, values
}

func freeStrings(list []*C.char) {
	for _, s := range list {
		// Some are secrets; the library has copies of its own, which it overwrites.
		C.memset(unsafe.Pointer(s), 0, C.strlen(s))
		C.free(unsafe.Pointer(s))
	}
}

// destroy gives the producer up; it sends nothing any more, and is torn down a little later. The transaction, if one is open, stays as
// it is at the coordinator.
func (c *client) destroy() {
	C.ps_end(c.p)
	c.relay.cut()
	go func() {
		select {
		case <-time.After(teardownDelay):
		case <-c.engine.closing.Done():
		}
		c.engine.destroying <- struct{}{}
		for _, t := range c.targets {
			C.rd_kafka_topic_destroy(t.handle)
		}
		C.ps_destroy(c.p)
		<-c.engine.destroying
		c.relay.close()
		c.log.Delete()
		c.engine.producers.Add(-1)
	}()
}

// cancellable makes the C calls until stop return early when ctx ends.
func (c *client) cancellable(ctx context.Context) (stop func()) {
	if ctx.Done() == nil {
		return func() {}
	}
	done := make(chan struct{})
	cancel := context.AfterFunc(ctx, func() {
		C.ps_cancel(c.p)
		close(done)
	})
	return func() {
		if !cancel() {
			<-done
			C.ps_resume(c.p)
		}
	}
}

// remaining is the time until ctx ends, at most limit, as the whole milliseconds C wants; rounded up, so that a wait that
// ends by its time has outlived ctx.
func remaining(ctx context.Context, limit time.Duration) int64 {
	if deadline, ok := ctx.Deadline(); ok {
		limit = min(limit, time.Until(deadline))
	}
	return max((limit + time.Millisecond - 1).Milliseconds(), 0)
}

// ended is ctx.Err(), but already at the deadline and not only when the timer of ctx has run.
func ended(ctx context.Context) error {
	if deadline, ok := ctx.Deadline(); ok && !time.Now().Before(deadline) {
		return context.DeadlineExceeded
	}
	return ctx.Err()
}

// initTransactions runs until success, a final error or the end of ctx. A time-out or any other retriable answer is tried
// again within ctx. No request of it leaves after ctx has ended, or after the lease has: see package lease.
func (c *client) initTransactions(ctx context.Context) error {
	defer context.AfterFunc(ctx, c.relay.cut)()
	for slice := initSlice; ; slice = min(2*slice, txnSlice) {
		var r C.ps_result
		C.ps_init_transactions(c.p, C.int(max(remaining(ctx, slice), 1)), &r)
		if r.code == 0 {
			return c.relay.keep(c.id)
		}
		if err := c.relay.over(ctx, c.id); err != nil {
			return err
		}
		res := goResult(&r)
		if refusal := c.snapshot().refusal; refusal.code != 0 {
			return c.fault("initialising", refusal)
		}
		if !res.retriable && res.code != C.PS_ERR_TIMED_OUT {
			return c.initFault(ctx, res)
		}
		pause := c.cfg.RetryBackoff
		if res.code == C.PS_ERR_TIMED_OUT {
			pause = 0 // the call itself has waited
		}
		select {
		case <-ctx.Done():
			return c.initTimeout(ctx, res)
		case <-time.After(pause):
		}
	}
}

func (c *client) begin() error {
	var r C.ps_result
	// Those of the initialisation, which has succeeded.
	C.ps_forget_warnings(c.p)
	C.ps_begin_transaction(c.p, &r)
	if r.code == 0 {
		return nil
	}
	return c.fault("opening the transaction", goResult(&r))
}

// healthy tells whether librdkafka stands by the open transaction, all of whose records are acknowledged. It is only asked when it has
// warned of anything: the question goes to its main thread and back, while a checkpoint waits. It warns before it gives a transaction up
// (rd_kafka_txn_set_abortable_error, rd_kafka_set_fatal_error).
func (c *client) healthy() error {
	if C.ps_warned(c.p) == 0 {
		return nil
	}
	if err := c.alreadyInTransaction(); err != nil {
		return err
	}
	c.log.Value().(*slog.Logger).Info("librdkafka has warned during this transaction, and says that the transaction is healthy")
	return nil
}

// alreadyInTransaction asks, free of side effects, whether the open transaction is healthy: a second begin is refused with
// a plain state error when it is, and with the reason when librdkafka knows that it must be aborted (kafka.md 4.4).
func (c *client) alreadyInTransaction() error {
	var r C.ps_result
	C.ps_begin_transaction(c.p, &r)
	if r.code == C.PS_ERR_STATE && r.fatal == 0 {
		return nil
	}
	if r.code == 0 {
		return producer.Errorf(producer.Internal, "transaction %s was not open when it was to be sealed", c.id)
	}
	return c.fault("proving the transaction", goResult(&r))
}

// flush waits until nothing is queued, within ctx and the delivery timeout; a failed delivery ends it early with that
// failure.
func (c *client) flush(ctx context.Context) error {
	defer c.cancellable(ctx)()
	var r C.ps_result
	C.ps_flush(c.p, C.int64_t(remaining(ctx, c.cfg.DeliveryTimeout+reportSlack)), &r)
	if err := c.err(); err != nil {
		return err
	}
	if r.code == 0 {
		return nil
	}
	if err := ended(ctx); err != nil {
		return producer.Errorf(producer.FailEpoch, "flushing %s ended early: %w", c.what(), err)
	}
	if r.code == C.PS_ERR_TIMED_OUT {
		return producer.Errorf(producer.FailEpoch, "flushing %s: rows for topics %q were not acknowledged within "+
			"properties.delivery.timeout.ms = %d and %v more: the broker at %s is slow or down, or a topic is gone; last seen: %s",
			c.what(), c.cfg.Topics, c.cfg.DeliveryTimeout.Milliseconds(), reportSlack, c.servers(), c.lastSeen())
	}
	return c.fault("flushing", goResult(&r))
}

// abort tells the coordinator to abort, within ctx and the request timeout.
func (c *client) abort(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, c.cfg.RequestTimeout)
	defer cancel()
	for {
		var r C.ps_result
		C.ps_abort_transaction(c.p, C.int(max(remaining(ctx, txnSlice), 1)), &r)
		switch {
		case r.code == 0:
			return nil
		case r.code != C.PS_ERR_TIMED_OUT:
			return c.fault("aborting", goResult(&r))
		case ended(ctx) != nil:
			return producer.Errorf(producer.FailEpoch, "aborting %s: no answer from the coordinator at %s in time: %w; it ends "+
				"by itself after properties.transaction.timeout.ms = %d", c.what(), c.servers(), ended(ctx),
				c.cfg.TransactionTimeout.Milliseconds())
		}
	}
}

func (c *client) failed() bool { return C.ps_failed(c.p) != 0 }

// err is the first asynchronous failure.
func (c *client) err() error {
	if !c.failed() {
		return nil
	}
	s := c.snapshot()
	switch {
	case s.refusal.code != 0:
		return c.fault("producing", s.refusal)
	case s.fatal.code != 0:
		return c.fault("producing", s.fatal)
	}
	return c.causeFault("delivering a record", s.firstFailure)
}

// causeFault words a failure that may be the consequence of another one: the record was purged, or refused because the transaction
// is broken, and the report of the first failure may not have come yet. The transaction knows it already.
func (c *client) causeFault(doing string, r result) error {
	switch r.code {
	case C.PS_ERR_PURGE_QUEUE, C.PS_ERR_PURGE_INFLIGHT, C.PS_ERR_STATE:
		if c.id == "" {
			break
		}
		var cause C.ps_result
		C.ps_begin_transaction(c.p, &cause)
		if cause.code != 0 && cause.code != C.PS_ERR_STATE {
			topic := r.topic
			r = goResult(&cause)
			r.topic = topic
		}
	}
	return c.fault(doing, r)
}

// waiting is how many records have neither been acknowledged nor failed.
func (s *snapshot) waiting() int64 { return s.Accepted - s.Acknowledged - s.Failed }

// snapshot is what the producer has counted and seen so far.
type snapshot struct {
	producer.Counters
	identitySeen  bool
	producerID    int64
	producerEpoch int16
	firstFailure  result
	fatal         result
	lastError     result
	refusal       result
}

func (c *client) snapshot() snapshot {
	var s C.ps_snapshot
	C.ps_snapshot_get(c.p, &s)
	return snapshot{
		Counters:      producer.Counters{Accepted: int64(s.accepted), Acknowledged: int64(s.acked), Failed: int64(s.failed)},
		identitySeen:  s.identity_seen != 0,
		producerID:    int64(s.producer_id),
		producerEpoch: int16(s.producer_epoch),
		firstFailure:  goResult(&s.first_failure),
		fatal:         goResult(&s.fatal),
		lastError:     goResult(&s.last_error),
		refusal:       goResult(&s.refusal),
	}
}

// what names the producer in a text for a person.
func (c *client) what() string {
	if c.id == "" {
		return "the producer"
	}
	return fmt.Sprintf("transaction %s", c.id)
}
