package rdkafka_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"penstock.dev/penstock/kafka/producer"
	"penstock.dev/penstock/kafka/producer/rdkafka"
)

// column is the bytes, offsets and nulls of fields; nil is null.
func column(fields ...[]byte) (all []byte, offsets []uint32, nulls []byte) {
	offsets, nulls = []uint32{0}, make([]byte, (len(fields)+7)/8)
	for i, f := range fields {
		if f == nil {
			nulls[i/8] |= 1 << (i % 8)
		}
		all = append(all, f...)
		offsets = append(offsets, uint32(len(all)))
	}
	return all, offsets, nulls
}

// sealAndRead ends the epoch of o, commits it and reads the topic until it has as many records as the topic should have.
func sealAndRead(t *testing.T, o producer.Open, topic string, rows, inTopic int) []*kgo.Record {
	t.Helper()
	sealed, err := o.Seal(testContext(t, 30*time.Second), int64(rows))
	if err != nil {
		t.Fatal(err)
	}
	who := sealed.Identity()
	sealed.Release()
	if err := realBroker(t).EndTransaction(testContext(t, 30*time.Second), who.TransactionalID, who.ProducerID, who.ProducerEpoch, true); err != nil {
		t.Fatal(err)
	}
	return committed(t, topic, inTopic)
}

func committed(t *testing.T, topic string, rows int) []*kgo.Record {
	t.Helper()
	awaitCommitted(t, topic, rows)
	seen, err := realBroker(t).Records(testContext(t, 30*time.Second), topic, true)
	if err != nil {
		t.Fatal(err)
	}
	return seen
}

// TestNullAndEmptyAreDifferent for keys and for values, on both ways through C.
func TestNullAndEmptyAreDifferent(t *testing.T) {
	b, e := realBroker(t), newEngine(t)
	createTopic(t, b, "nulls", 1, nil)
	r := &producer.Records{Topic: "nulls"}
	r.Keys, r.KeyOffsets, r.KeyNulls = column(nil, []byte{}, []byte("k"), []byte{0})
	r.Values, r.ValueOffsets, r.ValueNulls = column([]byte{}, nil, []byte("v"), nil)
	o := mustOpen(t, e, config(b.Addr()), "nulls-0-1")
	mustProduce(t, o, r)
	r.Headers = &producer.Headers{Ends: []uint32{0, 0, 0, 0, 0}, Offsets: []uint32{0}}
	mustProduce(t, o, r)
	var got []string
	for _, s := range sealAndRead(t, o, "nulls", 8, 8) {
		got = append(got, fmt.Sprintf("%#v %#v %d", s.Key, s.Value, len(s.Headers)))
	}
	want := []string{
		`[]byte(nil) []byte{} 0`, `[]byte{} []byte(nil) 0`, `[]byte{0x6b} []byte{0x76} 0`, `[]byte{0x0} []byte(nil) 0`,
	}
	if want = append(want, want...); !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
}

func TestHeadersAndTimestampsArrive(t *testing.T) {
	b, e := realBroker(t), newEngine(t)
	createTopic(t, b, "headers", 1, nil)
	r := &producer.Records{Topic: "headers", Timestamps: []int64{1, producer.NoTimestamp, 1_000_000_000_000}}
	r.Values, r.ValueOffsets, _ = column([]byte("a"), []byte("b"), []byte("c"))
	// The headers of a part of a batch begin behind those of another part.
	r.Headers = &producer.Headers{Ends: []uint32{1, 4, 4, 5}, Offsets: []uint32{0, 0, 0, 1, 2, 2, 4, 7, 7, 7, 8}, Bytes: []byte("kv\x00z\x00\xFF\x01z")}
	before := time.Now().Add(-time.Minute)
	o := mustOpen(t, e, config(b.Addr()), "headers-0-1")
	mustProduce(t, o, r)
	seen := sealAndRead(t, o, "headers", 3, 3)
	var got []string
	for _, s := range seen {
		text := string(s.Value)
		for _, h := range s.Headers {
			text += fmt.Sprintf(" %q=%#v", h.Key, h.Value)
		}
		got = append(got, text)
	}
	want := []string{`a "k"=[]byte{0x76} ""=[]byte{0x0, 0x7a} "\x00\xff\x01"=[]byte{}`, `b`, `c ""=[]byte{0x7a}`}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if a, c := seen[0].Timestamp.UnixMilli(), seen[2].Timestamp.UnixMilli(); a != 1 || c != 1_000_000_000_000 {
		t.Errorf("timestamps %d and %d", a, c)
	}
	if now := seen[1].Timestamp; now.Before(before) || now.After(time.Now().Add(time.Minute)) {
		t.Errorf("a record without a timestamp has %v", now)
	}
}

// TestRefusedTimestampsNameTheColumn: brokers take no records from the far future.
func TestRefusedTimestampsNameTheColumn(t *testing.T) {
	b, e := realBroker(t), newEngine(t)
	createTopic(t, b, "future", 1, nil)
	o := mustOpen(t, e, config(b.Addr()), "future-0-1")
	r := rows("future", "x", 1)
	r.Timestamps = []int64{4_102_444_800_000}
	mustProduce(t, o, r)
	_, err := o.Seal(testContext(t, 30*time.Second), 1)
	check(t, err, producer.FailEpoch, `topic "future"`, "metadata column 'timestamp'", "message.timestamp.after.max.ms")
}

// TestSeveralTopicsInOneTransaction: each topic keeps the order of its rows.
func TestSeveralTopicsInOneTransaction(t *testing.T) {
	b, e := realBroker(t), newEngine(t)
	names := []string{"several-a", "several-b", "several-c"}
	for _, name := range names {
		createTopic(t, b, name, 1, nil)
	}
	o := mustOpen(t, e, config(b.Addr()), "several-0-1")
	for round := range 10 {
		for _, name := range names {
			mustProduce(t, o, rows(name, strconv.Itoa(round), 50))
		}
	}
	first := sealAndRead(t, o, names[0], 1500, 500)
	for _, seen := range [][]*kgo.Record{first, committed(t, names[1], 500), committed(t, names[2], 500)} {
		for i, s := range seen {
			if want := fmt.Sprintf("%d-%d", i/50, i%50); string(s.Value) != want {
				t.Fatalf("record %d of %s is %s, want %s", i, s.Topic, s.Value, want)
			}
		}
	}
}

// TestKeysAndHeadersCountForTheSizeOfARecord, as in Java's max.request.size.
func TestKeysAndHeadersCountForTheSizeOfARecord(t *testing.T) {
	b, e := realBroker(t), newEngine(t)
	createTopic(t, b, "sizes", 1, nil)
	cfg := config(b.Addr())
	cfg.MaxRequestBytes = 2000
	half := make([]byte, 1000)
	for name, change := range map[string]func(*producer.Records){
		"key": func(r *producer.Records) { r.Keys, r.KeyOffsets = half, []uint32{0, 1000} },
		"headers": func(r *producer.Records) {
			r.Headers = &producer.Headers{Ends: []uint32{0, 1}, Offsets: []uint32{0, 0, 1000}, Bytes: half}
		},
	} {
		o := mustOpen(t, e, cfg, "sizes-"+name)
		r := large("sizes", 1000)
		change(r)
		err := o.Produce(testContext(t, 30*time.Second), r)
		check(t, err, producer.FailEpoch, `"sizes"`, "properties.max.request.size (now 2000 bytes)")
		o.Discard()
	}
}

// TestTheQueueIsBoundedForRecordsWithoutValues: librdkafka counts values only, and a delete has none.
func TestTheQueueIsBoundedForRecordsWithoutValues(t *testing.T) {
	b, e := realBroker(t), newEngine(t)
	createTopic(t, b, "deletes", 1, nil)
	const batches, perBatch, keyBytes, buffer = 40, 500, 1000, 1 << 20
	r := &producer.Records{Topic: "deletes", Keys: make([]byte, perBatch*keyBytes), KeyOffsets: []uint32{0}, ValueOffsets: make([]uint32, perBatch+1),
		ValueNulls: slices.Repeat([]byte{0xFF}, (perBatch+7)/8)}
	for i := range perBatch {
		r.KeyOffsets = append(r.KeyOffsets, uint32((i+1)*keyBytes))
	}
	for name, change := range map[string]func(){
		"plain":      func() {},
		"timestamps": func() { r.Timestamps = slices.Repeat([]int64{5}, perBatch) },
	} {
		cfg := config(b.Addr())
		cfg.BufferBytes = buffer
		o := mustOpen(t, e, cfg, "deletes-"+name)
		change()
		most := 0
		for range batches {
			mustProduce(t, o, r)
			most = max(most, rdkafka.Queued(o))
		}
		if most > buffer/keyBytes {
			t.Errorf("%s: %d records of %d bytes waited, the buffer has %d", name, most, keyBytes, buffer)
		}
		sealed, err := o.Seal(testContext(t, 30*time.Second), batches*perBatch)
		if err != nil {
			t.Fatal(err)
		}
		sealed.Release()
	}
}

// TestARecordLargerThanTheQueueIsSentAlone.
func TestARecordLargerThanTheQueueIsSentAlone(t *testing.T) {
	b, e := realBroker(t), newEngine(t)
	createTopic(t, b, "large-key", 1, nil)
	cfg := config(b.Addr())
	cfg.BufferBytes = 4096
	o := mustOpen(t, e, cfg, "large-key-0-1")
	for range 3 {
		r := rows("large-key", "x", 1)
		r.Keys, r.KeyOffsets = make([]byte, 100_000), []uint32{0, 100_000}
		mustProduce(t, o, r)
	}
	if seen := sealAndRead(t, o, "large-key", 3, 3); len(seen[2].Key) != 100_000 {
		t.Errorf("a key has %d bytes", len(seen[2].Key))
	}
}

// TestBadRecordsNeverReachC and are told apart.
func TestBadRecordsNeverReachC(t *testing.T) {
	b, e := realBroker(t), newEngine(t)
	o := mustOpen(t, e, config(b.Addr()), "bad-0-1")
	defer o.Discard()
	headers := func(ends []uint32, offsets []uint32, size int) func(*producer.Records) {
		return func(r *producer.Records) {
			r.Headers = &producer.Headers{Ends: ends, Offsets: offsets, Bytes: make([]byte, size)}
		}
	}
	for want, change := range map[string]func(*producer.Records){
		"1 key offsets for 2 records":           func(r *producer.Records) { r.KeyOffsets = []uint32{0} },
		"key offset 4 is above 0":               func(r *producer.Records) { r.KeyOffsets = []uint32{0, 1, 4} },
		"1 bytes of value nulls for 9 records":  func(r *producer.Records) { r.ValueNulls, r.ValueOffsets = []byte{0}, make([]uint32, 10) },
		"1 timestamps for 2 records":            func(r *producer.Records) { r.Timestamps = []int64{1} },
		"has the timestamp 0":                   func(r *producer.Records) { r.Timestamps = []int64{1, 0} },
		"has the timestamp -2":                  func(r *producer.Records) { r.Timestamps = []int64{1, -2} },
		"header end offset 1 is above 0":        headers([]uint32{0, 0, 1}, []uint32{0}, 0),
		"2 ends and 1 offsets of headers for 2": headers([]uint32{0, 0}, []uint32{0}, 0),
		"3 ends and 2 offsets of headers for 2": headers([]uint32{0, 0, 0}, []uint32{0, 0}, 0),
		"header offset 2 is above 1":            headers([]uint32{0, 0, 1}, []uint32{0, 1, 2}, 1),
		"header offset 0 of record 1 is below":  headers([]uint32{0, 0, 1}, []uint32{0, 1, 0}, 1),
		"a batch without a topic":               func(r *producer.Records) { r.Topic = "" },
	} {
		r := rows("bad", "x", 2)
		change(r)
		if err := o.Produce(testContext(t, 30*time.Second), r); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want an error with %q", err, want)
		}
	}
}
