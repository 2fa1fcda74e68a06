package rdkafka_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"penstock.dev/penstock/kafka/producer"
)

// TestHandOff is E1 of kafka.md: somebody else commits a transaction whose producer is gone.
func TestHandOff(t *testing.T) {
	b, e := realBroker(t), newEngine(t)
	createTopic(t, b, "handoff", 3, nil)
	const epochs, perEpoch = 3, 2500 // more than two chunks of the C loop
	for i := range epochs {
		id := fmt.Sprintf("handoff-0-%d", i+1)
		open := mustOpen(t, e, config(b.Addr()), id)
		mustProduce(t, open, rows("handoff", id, perEpoch))
		start := time.Now()
		sealed, err := open.Seal(testContext(t, 30*time.Second), perEpoch)
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%s sealed after %v as %+v", id, time.Since(start), sealed.Identity())
		checkCommitMakesVisible(t, sealed, i*perEpoch, perEpoch)
	}
	checkEachOnce(t, epochs*perEpoch)
}

func checkCommitMakesVisible(t *testing.T, sealed producer.Sealed, before, rows int) {
	t.Helper()
	b := realBroker(t)
	ctx := testContext(t, 30*time.Second)
	who := sealed.Identity()
	sealed.Release()
	if all, err := b.Records(ctx, "handoff", false); err != nil || len(all) != before+rows {
		t.Fatalf("written: %d of %d, error %v", len(all), before+rows, err)
	}
	if seen, err := b.Records(ctx, "handoff", true); err != nil || len(seen) != before {
		t.Fatalf("committed too early: %d, error %v", len(seen), err)
	}
	if err := b.EndTransaction(ctx, who.TransactionalID, who.ProducerID, who.ProducerEpoch, true); err != nil {
		t.Fatalf("commit of %+v: %v", who, err)
	}
	awaitCommitted(t, "handoff", before+rows)
}

func checkEachOnce(t *testing.T, want int) {
	t.Helper()
	records, err := realBroker(t).Records(testContext(t, 30*time.Second), "handoff", true)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, r := range records {
		if r.Key != nil || len(r.Headers) != 0 {
			t.Fatalf("key %q, headers %v", r.Key, r.Headers)
		}
		seen[string(r.Value)] = true
	}
	if len(records) != want || len(seen) != want {
		t.Errorf("%d records, %d different, want %d", len(records), len(seen), want)
	}
}

// TestRecordBytes: keys, empty values, null values, empty keys and timestamps arrive as they were given.
func TestRecordBytes(t *testing.T) {
	b, e := realBroker(t), newEngine(t)
	createTopic(t, b, "bytes", 1, nil)
	open := mustOpen(t, e, config(b.Addr()), "bytes-0-1")
	mustProduce(t, open, &producer.Records{Topic: "bytes", ValueOffsets: []uint32{0, 0}})
	mustProduce(t, open, &producer.Records{
		Topic: "bytes", Values: []byte("v1v2"), ValueOffsets: []uint32{0, 2, 4},
		Keys: []byte("k"), KeyOffsets: []uint32{0, 1, 1},
	})
	mustProduce(t, open, &producer.Records{
		Topic: "bytes", Values: []byte("v3"), ValueOffsets: []uint32{0, 2}, Timestamps: []int64{1234567890123},
	})
	mustProduce(t, open, &producer.Records{
		Topic: "bytes", Values: []byte("xv4"), ValueOffsets: []uint32{0, 1, 1, 3}, ValueNulls: []byte{0b001},
	})
	mustProduce(t, open, &producer.Records{
		Topic: "bytes", ValueOffsets: []uint32{0, 0, 0}, ValueNulls: []byte{0b10}, Timestamps: []int64{1234567890123, 1234567890123},
	})
	sealed, err := open.Seal(testContext(t, 30*time.Second), 9)
	if err != nil {
		t.Fatal(err)
	}
	sealed.Release()
	records, err := b.Records(testContext(t, 30*time.Second), "bytes", false)
	if err != nil || len(records) != 9 {
		t.Fatalf("%d records, error %v", len(records), err)
	}
	var got []string
	for _, r := range records {
		got = append(got, fmt.Sprintf("%q/%v=%q/%v", r.Key, r.Key == nil, r.Value, r.Value == nil))
	}
	want := `""/true=""/false "k"/false="v1"/false ""/false="v2"/false ""/true="v3"/false ` +
		`""/true=""/true ""/true=""/false ""/true="v4"/false ""/true=""/false ""/true=""/true`
	if strings.Join(got, " ") != want {
		t.Errorf("got  %s\nwant %s", strings.Join(got, " "), want)
	}
	if ms := records[3].Timestamp.UnixMilli(); ms != 1234567890123 {
		t.Errorf("timestamp %d", ms)
	}
	if age := time.Since(records[0].Timestamp); age < 0 || age > time.Minute {
		t.Errorf("a record without timestamp is %v old", age)
	}
}

// TestBackPressure: a queue much smaller than the batch fills and drains, nothing is lost or reordered.
func TestBackPressure(t *testing.T) {
	b, e := realBroker(t), newEngine(t)
	createTopic(t, b, "pressure", 1, nil)
	cfg := config(b.Addr())
	cfg.BufferBytes = 8 << 10
	for name, stamped := range map[string]bool{"batch": false, "stamped": true} {
		open := mustOpen(t, e, cfg, "pressure-"+name)
		r := rows("pressure", name, 3000)
		if stamped {
			for range r.Len() {
				r.Timestamps = append(r.Timestamps, 1)
			}
		}
		mustProduce(t, open, r)
		sealed, err := open.Seal(testContext(t, 30*time.Second), 3000)
		if err != nil {
			t.Fatal(err)
		}
		sealed.Release()
	}
	records, err := b.Records(testContext(t, 30*time.Second), "pressure", false)
	if err != nil || len(records) != 6000 {
		t.Fatalf("%d records, error %v", len(records), err)
	}
	next := map[string]int{}
	for _, r := range records {
		name, _, _ := strings.Cut(string(r.Value), "-")
		if string(r.Value) != fmt.Sprintf("%s-%d", name, next[name]) {
			t.Fatalf("%s came as number %d", r.Value, next[name])
		}
		next[name]++
	}
}

// TestReinitFences: an older producer of the same id cannot seal any more, and is told why.
func TestReinitFences(t *testing.T) {
	b, e := realBroker(t), newEngine(t)
	createTopic(t, b, "fence", 1, nil)
	old := mustOpen(t, e, config(b.Addr()), "fence-0-1")
	mustProduce(t, old, rows("fence", "old", 1))
	young := mustOpen(t, e, config(b.Addr()), "fence-0-1")
	defer young.Discard()
	if young.Identity().ProducerEpoch <= old.Identity().ProducerEpoch {
		t.Errorf("epochs %+v, %+v", old.Identity(), young.Identity())
	}
	// The old one's rows may have been acknowledged before the fence, in which case only its next row shows it.
	err := old.Produce(testContext(t, 30*time.Second), rows("fence", "late", 1))
	if err == nil {
		_, err = old.Seal(testContext(t, 30*time.Second), 2)
	} else {
		old.Discard()
	}
	if err == nil || producer.KindOf(err) != producer.Fenced {
		t.Errorf("kind %v of %v", producer.KindOf(err), err)
	}
}

// TestAbortAndDiscard: an aborted transaction is over at once and its id can be initialised again.
func TestAbortAndDiscard(t *testing.T) {
	b, e := realBroker(t), newEngine(t)
	createTopic(t, b, "abort", 1, nil)
	open := mustOpen(t, e, config(b.Addr()), "abort-0-1")
	mustProduce(t, open, rows("abort", "gone", 5))
	if err := open.Abort(testContext(t, 30*time.Second)); err != nil {
		t.Fatal(err)
	}
	ready, err := e.Init(testContext(t, 30*time.Second), config(b.Addr()), "abort-0-1")
	if err != nil {
		t.Fatal(err)
	}
	ready.Discard()
	if seen, err := b.Records(testContext(t, 30*time.Second), "abort", true); err != nil || len(seen) != 0 {
		t.Errorf("%d rows visible, error %v", len(seen), err)
	}
}

func TestPlain(t *testing.T) {
	b, e := realBroker(t), newEngine(t)
	createTopic(t, b, "plain", 2, nil)
	cfg := config(b.Addr())
	cfg.Idempotence = false
	p, err := e.OpenPlain(testContext(t, 30*time.Second), cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	for i := range 3 {
		mustProduce(t, p, rows("plain", fmt.Sprint(i), 1500))
		if err := p.Flush(testContext(t, 30*time.Second)); err != nil {
			t.Fatal(err)
		}
		if c := p.Counters(); c.Acknowledged != int64(i+1)*1500 || c.Failed != 0 {
			t.Fatalf("after flush %d: %+v", i, c)
		}
	}
	if seen, err := b.Records(testContext(t, 30*time.Second), "plain", true); err != nil || len(seen) != 4500 {
		t.Errorf("%d rows, error %v", len(seen), err)
	}
}
