package encode

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"penstock.dev/penstock/columnar"
)

func TestSteadyStateAllocatesNothing(t *testing.T) {
	typ := allTypes()
	batch := build(t, typ, allRows(200)...)
	for _, opts := range []JSONOptions{{}, {IgnoreNullFields: true, PlainDecimals: true}, {Floats: FloatsShortest}} {
		requireNoAllocations(t, mustCompile(t, typ, opts), batch)
		requireNoAllocations(t, mustCompileChangelog(t, EnvelopeDebezium, typ, opts), batch)
	}
	flat := flatTypes()
	batch = build(t, flat, flatRows(200)...)
	for _, opts := range []CSVOptions{
		{}, {FieldDelimiter: '☃', EscapeCharacter: 'é'}, {QuotesDisabled: true, ScientificDecimals: true, Floats: FloatsShortest},
	} {
		requireNoAllocations(t, mustCompileCSV(t, flat, opts), batch)
	}
	text := row("f", of(columnar.VarChar))
	requireNoAllocations(t, mustCompileRaw(t, text, RawOptions{}), build(t, text, []any{"a"}, []any{nil}, []any{""}))
	local := AvroOptions{LocalTimestamps: true}
	requireNoAllocations(t, mustCompileAvro(t, avroTypes(), local), build(t, avroTypes(), avroRows(10)...))
}

func requireNoAllocations(t *testing.T, plan *Plan, batch *columnar.Batch) {
	t.Helper()
	e := NewEncoder(plan)
	allocations := testing.AllocsPerRun(20, func() {
		if _, err := e.Encode(batch, AllRows(batch)); err != nil {
			t.Fatal(err)
		}
	})
	if allocations != 0 {
		t.Errorf("%s: %v allocations for each batch", plan.Format(), allocations)
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
