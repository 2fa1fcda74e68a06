package rdkafka_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"penstock.dev/penstock/kafka/epoch"
	"penstock.dev/penstock/kafka/producer"
	"penstock.dev/penstock/kafka/producer/lease"
)

// TestFillGaps is A8: a hundred skipped checkpoints, in less time than librdkafka needs for five, and again when some of the ids are
// known and hold transactions.
func TestFillGaps(t *testing.T) {
	b, e := realBroker(t), newEngine(t)
	createTopic(t, b, "gaps", 1, nil)
	lingering := mustOpen(t, e, config(b.Addr()), "gaps-0-50")
	mustProduce(t, lingering, rows("gaps", "lost", 3))
	sealed, err := lingering.Seal(testContext(t, 30*time.Second), 3)
	if err != nil {
		t.Fatal(err)
	}
	sealed.Release()
	var ids []string
	for i := range 100 {
		ids = append(ids, fmt.Sprintf("gaps-0-%d", i))
	}
	start := time.Now()
	if err := e.Fill(testContext(t, 30*time.Second), config(b.Addr()), ids); err != nil {
		t.Fatal(err)
	}
	took := time.Since(start)
	t.Logf("%d ids in %v", len(ids), took)
	if took > 5*time.Second { // about one on a busy machine
		t.Errorf("%v for %d ids", took, len(ids))
	}
	for _, id := range ids {
		got, want := described(t, b.Addr(), id), "/0"
		if id == "gaps-0-50" {
			want = "/2"
		}
		if !strings.HasPrefix(got, "Empty ") || !strings.HasSuffix(got, want) {
			t.Errorf("%s is %q", id, got)
		}
	}
}

func TestFillFaults(t *testing.T) {
	b, e := realBroker(t), newEngine(t)
	cfg := config(b.Addr())
	cfg.TransactionTimeout = 3 * time.Hour
	err := e.Fill(testContext(t, 30*time.Second), cfg, []string{"fill-a", "fill-b"})
	if producer.KindOf(err) != producer.BadRequest || !strings.Contains(err.Error(), "= 10800000 is above the broker's "+
		"transaction.max.timeout.ms = 7200000") {
		t.Errorf("kind %v of %v", producer.KindOf(err), err)
	}
	start := time.Now()
	err = e.Fill(testContext(t, 300*time.Millisecond), config("127.0.0.1:1"), []string{"fill-a", "fill-b"})
	if producer.KindOf(err) != producer.Retry || time.Since(start) > 10*time.Second {
		t.Errorf("kind %v of %v after %v", producer.KindOf(err), err, time.Since(start))
	}
	over := config(b.Addr())
	over.Lease = lease.New(lease.Length)
	over.Lease.End()
	if err := e.Fill(testContext(t, 30*time.Second), over, []string{"fill-c"}); producer.KindOf(err) != producer.Fenced {
		t.Errorf("kind %v of %v", producer.KindOf(err), err)
	}
	if known := described(t, b.Addr(), "fill-c"); known != "" {
		t.Errorf("fill-c is %s", known)
	}
}

// TestProbingFindsWhatLingersBehindSkippedCheckpoints is E9 of kafka.md: Flink's clean-up initialises id after id until one was never
// used, so that every id between the restored checkpoint and a lingering transaction must have been.
func TestProbingFindsWhatLingersBehindSkippedCheckpoints(t *testing.T) {
	b := realBroker(t)
	createTopic(t, b, "probed", 1, nil)
	w := epoch.NewWriter(epoch.Options{Engine: newEngine(t), Config: config(b.Addr()), Transactional: true, WarmPool: true})
	ctx := testContext(t, 60*time.Second)
	id := func(n int) string { return fmt.Sprintf("probed-0-%d", n) }
	const skipped = 100
	var gaps []string
	for n := 2; n < 2+skipped; n++ {
		gaps = append(gaps, id(n))
	}
	if _, err := w.Begin(ctx, 1, id(1), nil); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Seal(ctx, 0); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Begin(ctx, 2+skipped, id(2+skipped), gaps); err != nil {
		t.Fatal(err)
	}
	if err := w.Produce(ctx, rows("probed", "lingers", 5)); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Seal(ctx, 5); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(ctx); err != nil {
		t.Fatal(err)
	}
	last := 2
	for probe(ctx, t, b.Addr(), id(last)) != 0 {
		last++
	}
	if last != 3+skipped {
		t.Errorf("probing ended at %s", id(last))
	}
	if got := described(t, b.Addr(), id(2+skipped)); !strings.HasPrefix(got, "Empty ") {
		t.Errorf("the lingering transaction is %q", got)
	}
}

// probe takes id over as the connector's PROBING does and returns the epoch.
func probe(ctx context.Context, t *testing.T, server, id string) int16 {
	t.Helper()
	cl, err := kgo.NewClient(kgo.SeedBrokers(server))
	if err != nil {
		t.Fatal(err)
	}
	defer cl.Close()
	req := kmsg.NewPtrInitProducerIDRequest()
	req.TransactionalID, req.TransactionTimeoutMillis = &id, 60_000
	req.ProducerID, req.ProducerEpoch = -1, -1
	for {
		resp, err := req.RequestWith(ctx, cl)
		if err != nil {
			t.Fatal(err)
		}
		if err := kerr.ErrorForCode(resp.ErrorCode); err == nil {
			return resp.ProducerEpoch
		} else if err != kerr.ConcurrentTransactions {
			t.Fatal(err)
		}
		time.Sleep(20 * time.Millisecond)
	}
}
