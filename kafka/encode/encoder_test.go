package encode

import (
	"errors"
	"fmt"
	"math/big"
	"strings"
	"testing"

	"penstock.dev/penstock/columnar"
)

// allTypes has a column of every kind, with nesting.
func allTypes() *columnar.Type {
	text := of(columnar.VarChar)
	at := of(columnar.Timestamp)
	inner := row("x", of(columnar.Integer), "s", text, "t", at)
	return row("bo", of(columnar.Boolean), "i8", of(columnar.TinyInt), "i16", of(columnar.SmallInt), "i32", of(columnar.Integer),
		"i64", notNull(of(columnar.BigInt)), "f", of(columnar.Float), "d", of(columnar.Double), "de", decimalType(38, 10),
		"s", text, "b", of(columnar.VarBinary), "da", of(columnar.Date), "tm", of(columnar.Time), "ts", at,
		"lz", of(columnar.TimestampLTZ), "a", of(columnar.Array, inner), "m", of(columnar.Map, text, inner),
		"ms", of(columnar.Multiset, text), "aa", of(columnar.Array, of(columnar.Array, row())), "r", inner)
}

func allValues(i int64) []any {
	at := columnar.TimestampValue{Millis: i * 1_000_003, Nanos: int32(i % 1_000_000)}
	text := strings.Repeat("é\"a\U0001F600", int(i%5))
	inner := []any{i, text, at}
	return []any{
		i%2 == 0, i % 100, i % 1000, i, i * i, float32(i) / 3, float64(i) / 7, big.NewInt(i * 1_000_000_007), text, text, i,
		i % millisPerDay, at, at, []any{inner, nil}, entries{{Key: "k", Value: inner}, {Key: "k", Value: inner}, {Key: text, Value: nil}},
		entries{{Key: text, Value: 1}}, []any{[]any{[]any{}, nil}}, inner,
	}
}

func allRows(n int) [][]any {
	var rows [][]any
	for i := range n {
		rows = append(rows, allValues(int64(i)))
	}
	empty := make([]any, len(allValues(0)))
	empty[4] = 1
	return append(rows, empty)
}

func TestSteadyStateAllocatesNothing(t *testing.T) {
	typ := allTypes()
	batch := build(t, typ, allRows(200)...)
	for _, opts := range []JSONOptions{{}, {IgnoreNullFields: true, PlainDecimals: true}, {Floats: FloatsShortest}} {
		e := NewEncoder(mustCompile(t, typ, opts))
		allocations := testing.AllocsPerRun(20, func() {
			if _, err := e.Encode(batch, AllRows(batch)); err != nil {
				t.Fatal(err)
			}
		})
		if allocations != 0 {
			t.Errorf("%+v: %v allocations for each batch", opts, allocations)
		}
	}
}

// The result of a batch does not depend on the batches before it.
func TestEncoderIsReusable(t *testing.T) {
	typ := allTypes()
	batches := []*columnar.Batch{build(t, typ, allRows(30)...), build(t, typ), build(t, typ, allRows(3)...)}
	shared := NewEncoder(mustCompile(t, typ, JSONOptions{}))
	for round := range 6 {
		batch := batches[round%len(batches)]
		got, err := shared.Encode(batch, AllRows(batch))
		if err != nil {
			t.Fatal(err)
		}
		want, err := NewEncoder(mustCompile(t, typ, JSONOptions{})).Encode(batch, AllRows(batch))
		if err != nil || string(got.Values) != string(want.Values) || fmt.Sprint(got.Offsets) != fmt.Sprint(want.Offsets) {
			t.Fatalf("round %d: the shared encoder differs, %v", round, err)
		}
	}
}

// An error leaves the encoder usable.
func TestEncoderAfterError(t *testing.T) {
	typ := row("f", of(columnar.Map, of(columnar.VarChar), of(columnar.Integer)))
	e := NewEncoder(mustCompile(t, typ, JSONOptions{}))
	bad := build(t, typ, []any{entries{{Key: "a", Value: 1}, {Value: 2}}})
	if _, err := e.Encode(bad, AllRows(bad)); err == nil {
		t.Fatal("a null key was accepted")
	}
	good := build(t, typ, []any{entries{{Key: "a", Value: 1}}})
	out, err := e.Encode(good, AllRows(good))
	if err != nil || string(out.Values) != `{"f":{"a":1}}` {
		t.Errorf("got %v, %v", out, err)
	}
	if n := len(e.scratch.keys) + len(e.scratch.text); n != 0 {
		t.Errorf("%d elements of the failed batch are left on the stacks", n)
	}
}

func TestMaxBytes(t *testing.T) {
	typ := row("a", of(columnar.Array, row()))
	e := NewEncoder(mustCompile(t, typ, JSONOptions{}))
	e.MaxBytes = 100
	big := make([]any, 1000)
	for i := range big {
		big[i] = []any{}
	}
	for _, rows := range [][][]any{{{big}}, {{big[:30]}, {big[:30]}}} {
		batch := build(t, typ, rows...)
		_, err := e.Encode(batch, AllRows(batch))
		var bad *BadBatch
		if !errors.As(err, &bad) || !strings.Contains(bad.Detail, "larger than 100 bytes") {
			t.Errorf("got %v", err)
		}
		if cap(e.out.Values) > 400 {
			t.Errorf("%d bytes were written before the bound held", cap(e.out.Values))
		}
	}
}

// Batches that contradict themselves, as if a peer had changed them after they were checked.
func TestBadBatches(t *testing.T) {
	typ := row("n", of(columnar.BigInt), "s", of(columnar.VarChar), "a", of(columnar.Array, row()), "t", of(columnar.Timestamp))
	at := columnar.TimestampValue{Millis: 1}
	for name, spoil := range map[string]func(b *columnar.Batch){
		"columns":              func(b *columnar.Batch) { b.Columns = b.Columns[:3] },
		"kind":                 func(b *columnar.Batch) { b.Columns[0].Type = of(columnar.Integer) },
		"no type":              func(b *columnar.Batch) { b.Columns[0].Type = nil },
		"rows":                 func(b *columnar.Batch) { b.Rows = 1 },
		"length":               func(b *columnar.Batch) { b.Columns[0].Len = -1 },
		"values":               func(b *columnar.Batch) { b.Columns[0].Values = b.Columns[0].Values[:15] },
		"values beyond length": func(b *columnar.Batch) { b.Columns[1].Values = b.Columns[1].Values[:1] },
		"offsets":              func(b *columnar.Batch) { b.Columns[1].Offsets = b.Columns[1].Offsets[:8] },
		"negative offset":      func(b *columnar.Batch) { b.Columns[1].Offsets = []byte{255, 255, 255, 255, 1, 0, 0, 0, 2, 0, 0, 0} },
		"falling offset":       func(b *columnar.Batch) { b.Columns[1].Offsets = []byte{2, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0} },
		"list beyond child":    func(b *columnar.Batch) { b.Columns[2].Offsets[8] = 9 },
		"falling list":         func(b *columnar.Batch) { b.Columns[2].Offsets[4] = 9 },
		"no child":             func(b *columnar.Batch) { b.Columns[2].Children = nil },
		"no validity":          func(b *columnar.Batch) { b.Columns[0].NullCount = 1 },
		"short validity":       func(b *columnar.Batch) { b.Columns[0].Validity = []byte{} },
		"no nanos":             func(b *columnar.Batch) { b.Columns[3].Children = b.Columns[3].Children[:1] },
	} {
		batch := build(t, typ, []any{1, "a", []any{[]any{}}, at}, []any{2, "b", []any{[]any{}}, at})
		spoil(batch)
		_, err := NewEncoder(mustCompile(t, typ, JSONOptions{})).Encode(batch, AllRows(batch))
		var bad *BadBatch
		if !errors.As(err, &bad) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

// FuzzEncode feeds arbitrary bytes through the parser and, when they pass, through the encoder: nothing panics, and the
// offsets describe the values. Inputs are long: run it with -fuzzminimizetime 1x, or it spends its time on making them shorter.
func FuzzEncode(f *testing.F) {
	typ := allTypes()
	b := columnar.NewBuilder(typ)
	for _, n := range []int{0, 1, 5} {
		for _, r := range allRows(n) {
			b.Append(0, r...)
		}
		f.Add(b.Finish(1))
	}
	var encoders []*Encoder
	for _, opts := range []JSONOptions{{Floats: FloatsLegacy}, {Floats: FloatsShortest, IgnoreNullFields: true, NullKeys: NullKeyDrop}} {
		plan, err := CompileJSON(typ, opts)
		if err != nil {
			f.Fatal(err)
		}
		encoders = append(encoders, NewEncoder(plan))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		batch, err := columnar.Parse(body, typ, 1)
		if err != nil {
			return
		}
		for _, e := range encoders {
			e.MaxBytes = 1 << 20
			out, err := e.Encode(&batch, AllRows(&batch))
			if err != nil {
				continue
			}
			if out.Len() != batch.Rows || int(out.Offsets[out.Len()]) != len(out.Values) {
				t.Fatalf("%d records of %d rows, offsets end at %d of %d", out.Len(), batch.Rows, out.Offsets[out.Len()], len(out.Values))
			}
			for i := range out.Len() {
				if v := out.Value(i); v[0] != '{' || v[len(v)-1] != '}' {
					t.Fatalf("record %d: %q", i, v)
				}
			}
		}
	})
}
