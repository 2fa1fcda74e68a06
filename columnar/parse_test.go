package columnar

import (
	"encoding/binary"
	"errors"
	"strings"
	"testing"
)

// draft is a batch of one column whose tables a test may spoil.
type draft struct {
	t    *Type
	body []byte
}

func newDraft(t *Type, rows ...any) *draft {
	b := NewBuilder(rowType(t))
	for _, r := range rows {
		b.Append(1, r)
	}
	return &draft{t, b.Finish(7)}
}

func (d *draft) nodeAt(i int) []byte { return d.body[batchHeaderBytes+i*nodeBytes:] }

func (d *draft) bufferAt(i int) []byte {
	nodes := int(binary.LittleEndian.Uint32(d.body[offNodeCount:]))
	return d.body[batchHeaderBytes+nodes*nodeBytes+i*bufferBytes:]
}

func (d *draft) data(i int) []byte { return d.body[binary.LittleEndian.Uint64(d.bufferAt(i)):] }

func put32(b []byte, v uint32) { binary.LittleEndian.PutUint32(b, v) }
func put64(b []byte, v int64)  { binary.LittleEndian.PutUint64(b, uint64(v)) }

func TestParseRefuses(t *testing.T) {
	integers := func() *draft { return newDraft(of(Integer), int64(1), nil, int64(3)) }
	texts := func() *draft { return newDraft(of(VarChar), "ab", nil, "cd") }
	lists := func() *draft { return newDraft(of(Array, of(Integer)), []any{int64(1), int64(2)}, []any{int64(3)}) }
	maps := func() *draft {
		return newDraft(of(Map, of(VarChar), of(Integer)), []Entry{{"a", int64(1)}, {"b", int64(2)}})
	}
	times := func() *draft { return newDraft(of(Timestamp), TimestampValue{1, 2}, TimestampValue{3, 4}) }
	for _, c := range []struct {
		name  string
		draft *draft
		spoil func(*draft)
		want  string
	}{
		{"short", integers(), func(d *draft) { d.body = d.body[:63] }, "63 bytes"},
		{"magic", integers(), func(d *draft) { d.body[0]++ }, "magic"},
		{"version", integers(), func(d *draft) { d.body[offVersion] = 2 }, "version is 2"},
		{"flags", integers(), func(d *draft) { d.body[offFlags] = 2 }, "unknown flags"},
		{"body bytes", integers(), func(d *draft) { d.body = d.body[:len(d.body)-64] }, "the extent has"},
		{"schema tag", integers(), func(d *draft) { put32(d.body[offSchemaTag:], 8) }, "schema tag is 8"},
		{"nodes", integers(), func(d *draft) { put32(d.body[offNodeCount:], 2) }, "2 nodes, the schema needs 1"},
		{"buffers", integers(), func(d *draft) { put32(d.body[offBufferCount:], 1<<31) }, "the schema needs 3"},
		{"row count", integers(), func(d *draft) { put32(d.body[offRowCount:], 1<<31) }, "rows in"},
		{"kinds short", integers(), func(d *draft) { put64(d.bufferAt(0)[8:], 2) }, "2 bytes for 3 rows"},
		{"kind value", integers(), func(d *draft) { d.data(0)[2] = 4 }, "row 2 is 4"},
		{"kinds with all_insert", integers(), func(d *draft) { d.body[offFlags] = 1 }, "all_insert"},
		{"column length", integers(), func(d *draft) { put64(d.nodeAt(0), 2) }, `field "f0": malformed batch: 2 elements, want 3`},
		{"column length negative", integers(), func(d *draft) { put64(d.nodeAt(0), -1) }, "-1 elements"},
		{"null count high", integers(), func(d *draft) { put64(d.nodeAt(0)[8:], 4) }, "4 nulls among 3"},
		{"null count negative", integers(), func(d *draft) { put64(d.nodeAt(0)[8:], -1) }, "-1 nulls"},
		{"null count and bits", integers(), func(d *draft) { put64(d.nodeAt(0)[8:], 2) }, "the validity bitmap has 1"},
		{"nulls hidden", integers(), func(d *draft) { put64(d.nodeAt(0)[8:], 0) }, "the validity bitmap has 1"},
		{"no bitmap", integers(), func(d *draft) { put64(d.bufferAt(1)[8:], 0) }, "without a validity bitmap"},
		{"values short", integers(), func(d *draft) { put64(d.bufferAt(2)[8:], 11) }, "11 bytes, needs 12"},
		{"values outside", integers(), func(d *draft) { put64(d.bufferAt(2)[8:], 1<<40) }, "outside the data"},
		{"values overflow", integers(), func(d *draft) { put64(d.bufferAt(2)[8:], 1<<63-1) }, "outside the data"},
		{"values negative", integers(), func(d *draft) { put64(d.bufferAt(2)[8:], -8) }, "outside the data"},
		{"offset overflow", integers(), func(d *draft) { put64(d.bufferAt(2), 1<<63-64) }, "outside the data"},
		{"offset in tables", integers(), func(d *draft) { put64(d.bufferAt(2), 64) }, "outside the data"},
		{"offset unaligned", integers(), func(d *draft) {
			put64(d.bufferAt(1), int64(len(d.body)-56))
		}, "not at a multiple of 64"},
		{"bits short", newDraft(of(Boolean), true, true, true, true, true, true, true, true, true),
			func(d *draft) { put64(d.bufferAt(2)[8:], 1) }, "1 bytes, needs 2"},
		{"validity short", newDraft(of(Boolean), nil, true, true, true, true, true, true, true, true),
			func(d *draft) { put64(d.bufferAt(1)[8:], 1) }, "validity buffer has 1 bytes, needs 2"},
		{"offsets short", texts(), func(d *draft) { put64(d.bufferAt(2)[8:], 12) }, "12 bytes, needs 16"},
		{"first offset", texts(), func(d *draft) { put32(d.data(2), 1<<31) }, "first offset"},
		{"offsets fall", texts(), func(d *draft) { put32(d.data(2)[4:], 5) }, "falls from 5 to 2"},
		{"last offset", texts(), func(d *draft) { put32(d.data(2)[12:], 5) }, "data buffer has 4 bytes, needs 5"},
		{"list child", lists(), func(d *draft) { put64(d.nodeAt(1), 2) }, "element: malformed batch: 2 elements, the list needs 3"},
		{"list child huge", lists(), func(d *draft) { put64(d.nodeAt(1), 1<<62) }, "elements in"},
		{"nulls without bytes", newDraft(of(Array, of(Null)), []any{nil}), func(d *draft) {
			put64(d.nodeAt(1), 3<<20)
			put32(d.data(2)[4:], 3<<20)
		}, "elements in"},
		{"map entries", maps(), func(d *draft) { put64(d.nodeAt(1), 1) }, "entries: malformed batch: 1 elements"},
		{"map entries null", maps(), func(d *draft) {
			put64(d.nodeAt(1)[8:], 2)
			copy(d.bufferAt(3)[:16], d.bufferAt(0)[:16])
			copy(d.data(0), []byte{0})
		}, "entries of a map are null"},
		{"map keys", maps(), func(d *draft) { put64(d.nodeAt(2), 1) }, "key: malformed batch: 1 elements, want 2"},
		{"map values", maps(), func(d *draft) { put64(d.nodeAt(3), 3) }, "value: malformed batch: 3 elements, want 2"},
		{"timestamp child", times(), func(d *draft) { put64(d.nodeAt(2), 1) }, "1 elements, want 2"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, err := Parse(c.draft.body, rowType(c.draft.t), 7); err != nil {
				t.Fatalf("before it is spoilt: %v", err)
			}
			c.spoil(c.draft)
			_, err := Parse(c.draft.body, rowType(c.draft.t), 7)
			if !errors.Is(err, ErrMalformed) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

func TestParseRefusesTablesBeyondTheEnd(t *testing.T) {
	body := NewBuilder(everyType()).Finish(1)[:128]
	put64(body[offBodyBytes:], int64(len(body)))
	if _, err := Parse(body, everyType(), 1); !errors.Is(err, ErrMalformed) || !strings.Contains(err.Error(), "tables end") {
		t.Error(err)
	}
}

// What LAYOUT.md allows beyond what the builder writes.
func TestParseAccepts(t *testing.T) {
	t.Run("longer buffers and a first offset above 0", func(t *testing.T) {
		d := newDraft(of(VarChar), "abc", "def")
		put32(d.data(2), 1)
		batch, err := Parse(d.body, rowType(d.t), 7)
		if err != nil || cell(&batch.Columns[0], 0) != "bc" {
			t.Fatalf("%v", err)
		}
	})
	t.Run("a bitmap although nothing is null", func(t *testing.T) {
		d := newDraft(of(Integer), int64(1), int64(2))
		copy(d.bufferAt(1)[:16], d.bufferAt(2)[:16])
		d.data(1)[0] = 0xff
		batch, err := Parse(d.body, rowType(d.t), 7)
		if err != nil || batch.Columns[0].Validity != nil {
			t.Fatalf("%v, validity %v", err, batch.Columns[0].Validity)
		}
	})
	t.Run("no rows and no offsets", func(t *testing.T) {
		d := newDraft(of(VarChar))
		put64(d.bufferAt(2)[8:], 0)
		if batch, err := Parse(d.body, rowType(d.t), 7); err != nil || len(batch.Columns[0].Offsets) != 0 {
			t.Fatalf("%v", err)
		}
	})
}

// A parser that failed must not carry anything into the next batch.
func TestParserRecoversAfterAnError(t *testing.T) {
	p := NewParser(everyType())
	if _, err := p.Parse([]byte("x"), 7); err == nil {
		t.Fatal("accepted")
	}
	if _, err := p.Parse(everyBatch(), 7); err != nil {
		t.Fatal(err)
	}
	empty := NewBuilder(everyType()).Finish(7)
	batch, err := p.Parse(empty, 7)
	if err != nil || batch.Rows != 0 || batch.Kinds != nil || batch.Columns[0].Len != 0 {
		t.Fatalf("%v: %+v", err, batch)
	}
}

func FuzzParse(f *testing.F) {
	f.Add(everyBatch(), []byte{0}, uint16(0))
	f.Add(NewBuilder(everyType()).Finish(7), []byte{1, 2, 3}, uint16(70))
	row := everyType()
	p := NewParser(row)
	f.Fuzz(func(t *testing.T, body, patch []byte, at uint16) {
		if len(body) >= batchHeaderBytes {
			// The length and the magic are what random bytes never get right; everything else is theirs.
			put32(body[offMagic:], batchMagic)
			put64(body[offBodyBytes:], int64(len(body)))
		}
		if int(at) < len(body) {
			copy(body[at:], patch)
		}
		batch, err := p.Parse(body, 7)
		if err != nil {
			if !errors.Is(err, ErrMalformed) {
				t.Fatal(err)
			}
			return
		}
		for i := range body {
			body[i] ^= 0xa5
		}
		walk(batch)
	})
}

func BenchmarkParse(b *testing.B) {
	builder := NewBuilder(rowType(of(BigInt), of(VarChar), of(VarChar)))
	for i := range 4096 {
		builder.Append(0, i, "https://www.example.org/item", nil)
	}
	body := builder.Finish(1)
	p := NewParser(rowType(of(BigInt), of(VarChar), of(VarChar)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := p.Parse(body, 1); err != nil {
			b.Fatal(err)
		}
	}
}
