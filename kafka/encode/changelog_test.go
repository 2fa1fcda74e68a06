package encode

import (
	"errors"
	"math/big"
	"strings"
	"testing"

	"penstock.dev/penstock/columnar"
)

func mustCompileChangelog(tb testing.TB, envelope Envelope, typ *columnar.Type, opts JSONOptions) *Plan {
	tb.Helper()
	if opts.Floats == FloatsUnknown {
		opts.Floats = FloatsLegacy
	}
	if opts.Line == LineUnknown {
		opts.Line = Line22
	}
	p, err := CompileChangelog(envelope, typ, opts)
	if err != nil {
		tb.Fatal(err)
	}
	return p
}

// changes is a batch with one row of each kind.
func changes(tb testing.TB, typ *columnar.Type, values ...any) *columnar.Batch {
	tb.Helper()
	b := columnar.NewBuilder(typ)
	for kind := range 4 {
		b.Append(byte(kind), values...)
	}
	batch, err := columnar.Parse(b.Finish(1), typ, 1)
	if err != nil {
		tb.Fatal(err)
	}
	return &batch
}

func TestEnvelopes(t *testing.T) {
	typ := row("id", of(columnar.BigInt), "s", of(columnar.VarChar), "ts", of(columnar.Timestamp), "d", decimalType(10, 2))
	batch := changes(t, typ, 1, nil, columnar.TimestampValue{Millis: 500}, big.NewInt(10000))
	full := `{"id":1,"s":null,"ts":"1970-01-01 00:00:00.5","d":1E+2}`
	sparse := `{"id":1,"ts":"1970-01-01T00:00:00.5","d":100.00}`
	sparseOptions := JSONOptions{IgnoreNullFields: true, Timestamps: TimestampISO8601, PlainDecimals: true}
	for _, c := range []struct {
		envelope       Envelope
		format         string
		opts           JSONOptions
		added, removed string
	}{
		{EnvelopeDebezium, "debezium-json", JSONOptions{}, `{"before":null,"after":` + full + `,"op":"c"}`, `{"before":` + full + `,"after":null,"op":"d"}`},
		{EnvelopeDebezium, "debezium-json", sparseOptions, `{"after":` + sparse + `,"op":"c"}`, `{"before":` + sparse + `,"op":"d"}`},
		{EnvelopeOgg, "ogg-json", JSONOptions{}, `{"before":null,"after":` + full + `,"op_type":"I"}`, `{"before":` + full + `,"after":null,"op_type":"D"}`},
		{EnvelopeOgg, "ogg-json", sparseOptions, `{"after":` + sparse + `,"op_type":"I"}`, `{"before":` + sparse + `,"op_type":"D"}`},
		{EnvelopeCanal, "canal-json", JSONOptions{}, `{"data":[` + full + `],"type":"INSERT"}`, `{"data":[` + full + `],"type":"DELETE"}`},
		{EnvelopeCanal, "canal-json", sparseOptions, `{"data":[` + sparse + `],"type":"INSERT"}`, `{"data":[` + sparse + `],"type":"DELETE"}`},
		{EnvelopeMaxwell, "maxwell-json", JSONOptions{}, `{"data":` + full + `,"type":"insert"}`, `{"data":` + full + `,"type":"delete"}`},
		{EnvelopeMaxwell, "maxwell-json", sparseOptions, `{"data":` + sparse + `,"type":"insert"}`, `{"data":` + sparse + `,"type":"delete"}`},
	} {
		plan := mustCompileChangelog(t, c.envelope, typ, c.opts)
		out, err := NewEncoder(plan).Encode(batch, AllRows(batch))
		if err != nil {
			t.Fatal(err)
		}
		want := strings.Join([]string{c.added, c.removed, c.added, c.removed}, "\n")
		if got := strings.Join(records(out), "\n"); got != want || plan.Format() != c.format || len(out.ValueNulls) != 0 {
			t.Errorf("%s as %s: got\n%s\nwant\n%s", c.format, plan.Format(), got, want)
		}
	}
}

// The kinds belong to the rows of the batch, not to the records of a selection; without kinds every row is an INSERT.
func TestEnvelopeOfSelection(t *testing.T) {
	typ := row("id", of(columnar.BigInt))
	e := NewEncoder(mustCompileChangelog(t, EnvelopeMaxwell, typ, JSONOptions{}))
	batch := changes(t, typ, 1)
	added, removed := `{"data":{"id":1},"type":"insert"}`, `{"data":{"id":1},"type":"delete"}`
	for want, sel := range map[string]Selection{
		removed + added: RowRange(1, 2), removed + removed + added: RowList([]uint32{3, 1, 0}), "": RowRange(4, 0),
	} {
		if out, err := e.Encode(batch, sel); err != nil || string(out.Values) != want {
			t.Errorf("%+v: got %+v, %v, want %s", sel, out, err, want)
		}
	}
	inserts := build(t, typ, []any{1}, []any{1})
	if out, err := e.Encode(inserts, AllRows(inserts)); err != nil || string(out.Values) != added+added {
		t.Errorf("inserts: got %+v, %v", out, err)
	}
}

func TestSpoiledKinds(t *testing.T) {
	typ := row("id", of(columnar.BigInt))
	e := NewEncoder(mustCompileChangelog(t, EnvelopeDebezium, typ, JSONOptions{}))
	for want, spoil := range map[string]func(b *columnar.Batch){
		"row 2 has the kind 4":   func(b *columnar.Batch) { b.Kinds[2] = 4 },
		"3 row kinds for 4 rows": func(b *columnar.Batch) { b.Kinds = b.Kinds[:3] },
	} {
		batch := changes(t, typ, 1)
		spoil(batch)
		_, err := e.Encode(batch, AllRows(batch))
		var bad *BadBatch
		if !errors.As(err, &bad) || !strings.Contains(bad.Detail, want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}

// Errors name the format and the prefix of its options.
func TestChangelogRefuses(t *testing.T) {
	integer, text := of(columnar.Integer), of(columnar.VarChar)
	for _, c := range []struct {
		envelope Envelope
		typ      *columnar.Type
		opts     JSONOptions
		want     string
	}{
		{EnvelopeUnknown, row("a", text), JSONOptions{}, "unknown envelope 0: use debezium"},
		{EnvelopeOgg + 1, row("a", text), JSONOptions{}, "unknown envelope 5"},
		{EnvelopeOgg, text, JSONOptions{}, "ogg-json: the schema must be a ROW"},
		{EnvelopeCanal, row("a", text), JSONOptions{NullKeys: 9}, "canal-json.map-null-key.mode: unknown value 9"},
		{EnvelopeMaxwell, row("a", of(columnar.Map, integer, text)), JSONOptions{}, `maxwell-json: column "a": JSON format doesn't support non-string`},
		{EnvelopeDebezium, row("a", of(columnar.Null)), JSONOptions{}, "not supported by Flink's debezium-json format"},
	} {
		if _, err := CompileChangelog(c.envelope, c.typ, c.opts); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("got %v, want an error with %q", err, c.want)
		}
	}
	typ := row("m", of(columnar.Map, text, integer))
	batch := build(t, typ, []any{entries{{Value: 1}}})
	_, err := NewEncoder(mustCompileChangelog(t, EnvelopeOgg, typ, JSONOptions{})).Encode(batch, AllRows(batch))
	if err == nil || !strings.Contains(err.Error(), "'ogg-json.map-null-key.mode'") {
		t.Errorf("null key: got %v", err)
	}
}
