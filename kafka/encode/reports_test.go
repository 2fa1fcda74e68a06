package encode

import (
	"errors"
	"math/big"
	"strings"
	"testing"

	"penstock.dev/penstock/columnar"
)

// one encodes rows of one column "f" with a plan for it and joins the records by a space.
func one(tb testing.TB, compile func(*columnar.Type) (*Plan, error), t *columnar.Type, values ...any) string {
	tb.Helper()
	typ := row("f", t)
	plan, err := compile(typ)
	if err != nil {
		tb.Fatal(err)
	}
	var rows [][]any
	for _, v := range values {
		rows = append(rows, []any{v})
	}
	batch := build(tb, typ, rows...)
	out, err := NewEncoder(plan).Encode(batch, AllRows(batch))
	if err != nil {
		tb.Fatal(err)
	}
	return strings.Join(records(out), " ")
}

func withJSON(opts JSONOptions) func(*columnar.Type) (*Plan, error) {
	if opts.Floats == FloatsUnknown {
		opts.Floats = FloatsLegacy
	}
	opts.Line = Line22
	return func(t *columnar.Type) (*Plan, error) { return CompileJSON(t, opts) }
}

func withCSV(opts CSVOptions) func(*columnar.Type) (*Plan, error) {
	opts.Line = Line22
	return func(t *columnar.Type) (*Plan, error) { return CompileCSV(t, opts) }
}

// Public reports of wrong or surprising bytes, with what Flink 2.2.1 and its connector 5.0.0-2.2 write; the names are those of the
// reports. Those of whole records, and the null key that fails its row, have tests of their own below. Elsewhere are:
//   - of avro (small integers, FLINK-20175, FLINK-33198): TestAvroValues and TestAvroLocalTimestamps; the name of its schema
//     (FLINK-25962): SchemaRegistryTest; FLINK-39053 needs the option schema, with which the stock sink writes
//   - of protobuf (FLINK-30093, a field of type google.protobuf.Timestamp): TestProtobufRows
//   - settled when a job is planned (FLINK-39401, FLINK-37752): FormatsTest of flink-table
//   - an upsert table that needs Flink's materializer (StreamFusion 3af05b32): JobGraphTest of flink-table and RecordsTest
func TestPublicReports(t *testing.T) {
	text, integer := of(columnar.VarChar), of(columnar.Integer)
	byText := of(columnar.Map, text, integer)
	at := columnar.TimestampValue{Millis: 655_906_363_123}
	fine := columnar.TimestampValue{Millis: 655_906_363_123, Nanos: 456_789}
	hundred, hundredThousand := big.NewInt(10_000), big.NewInt(100_000_000)
	nullKey := entries{{Key: "no-null key", Value: 1}, {Value: 2}}
	for _, c := range []struct {
		report  string
		compile func(*columnar.Type) (*Plan, error)
		typ     *columnar.Type
		values  []any
		want    string
	}{
		{"FLINK-33705", withJSON(JSONOptions{PlainDecimals: true}), decimalType(10, 2), []any{hundred}, `{"f":100.00}`},
		{"FLINK-33705", withCSV(CSVOptions{}), decimalType(10, 3), []any{hundredThousand}, "100000.000"},
		{"FLINK-37376", withCSV(CSVOptions{FieldDelimiter: ';', QuoteCharacter: '\''}), decimalType(10, 3), []any{hundredThousand}, "100000.000"},
		{"FLINK-37376", withCSV(CSVOptions{ScientificDecimals: true}), decimalType(10, 3), []any{hundredThousand}, "1E+5"},
		{"FLINK-20861", withJSON(JSONOptions{}), decimalType(20, 0), []any{big.NewInt(454621864049246170)}, `{"f":4.5462186404924617E+17}`},
		{"FLINK-20861", withJSON(JSONOptions{PlainDecimals: true}), decimalType(20, 0), []any{big.NewInt(454621864049246170)}, `{"f":454621864049246170}`},
		{"FLINK-17224", withJSON(JSONOptions{}), of(columnar.Time), []any{43_932_232}, `{"f":"12:12:12"}`},
		{"FLINK-18299", withJSON(JSONOptions{}), of(columnar.Timestamp), []any{at}, `{"f":"1990-10-14 12:12:43.123"}`},
		{"FLINK-18296", withJSON(JSONOptions{}), of(columnar.TimestampLTZ), []any{fine}, `{"f":"1990-10-14 12:12:43.123456789Z"}`},
		{"FLINK-19790", withJSON(JSONOptions{}), byText, []any{entries{{Key: "a", Value: 1}}, entries{{Key: "b", Value: 2}}}, `{"f":{"a":1}} {"f":{"b":2}}`},
		{"FLINK-19912", withJSON(JSONOptions{NullKeys: NullKeyDrop}), byText, []any{nullKey}, `{"f":{"no-null key":1}}`},
		{"FLINK-19912", withJSON(JSONOptions{NullKeys: NullKeyLiteral, NullKeyLiteral: "nullKey"}), byText, []any{nullKey}, `{"f":{"no-null key":1,"nullKey":2}}`},
		{"FLINK-19868", withCSV(CSVOptions{}), text, []any{"a"}, "a"},
		{"jackson-core 223", withJSON(JSONOptions{}), text, []any{"\U0001F602"}, `{"f":"\uD83D\uDE02"}`},
		{"JDK-4511638", withJSON(JSONOptions{}), of(columnar.Double), []any{2e23}, `{"f":1.9999999999999998E23}`},
		{"JDK-4511638", withJSON(JSONOptions{Floats: FloatsShortest}), of(columnar.Double), []any{2e23}, `{"f":2.0E23}`},
		{"uppercase hex", withJSON(JSONOptions{}), text, []any{"\x1F"}, `{"f":"\u001F"}`},
		{"base64", withJSON(JSONOptions{}), of(columnar.Binary), []any{"\xFB\xFF"}, `{"f":"+/8="}`},
		{"fraction", withJSON(JSONOptions{}), of(columnar.Timestamp), []any{columnar.TimestampValue{Millis: 500}}, `{"f":"1970-01-01 00:00:00.5"}`},
		{"stripped zeros", withJSON(JSONOptions{}), decimalType(10, 2), []any{hundred}, `{"f":1E+2}`},
	} {
		if got := one(t, c.compile, c.typ, c.values...); got != c.want {
			t.Errorf("%s: got %s, want %s", c.report, got, c.want)
		}
	}
}

func TestNullKeyReport(t *testing.T) {
	typ := row("f", of(columnar.Map, of(columnar.VarChar), of(columnar.Integer)))
	_, err := encodeRows(t, typ, JSONOptions{}, []any{entries{{Key: "no-null key", Value: 1}, {Value: 2}}})
	var rowErr *RowError
	if !errors.As(err, &rowErr) || rowErr.Row != 0 || !strings.Contains(rowErr.Reason, "map-null-key.mode") {
		t.Errorf("FLINK-19912: got %v", err)
	}
}

// FLINK-39792: connector 5.0 leaves a header without a value out; 5.1 writes it.
func TestNullHeaderReport(t *testing.T) {
	typ := row("v", of(columnar.Integer), "h", of(columnar.Map, of(columnar.VarChar), of(columnar.Binary)))
	value := mustPart(t, typ, nil, asJSON, 0)
	e := mustRecords(t, typ, Shape{Value: *value, Timestamp: NoColumn, Headers: 1, Topic: NoColumn})
	checkRecords(t, e, build(t, typ, []any{1, entries{{Key: "k", Value: nil}, {Key: "l", Value: ""}}}), `0 - -1 null "{\"v\":1}" "l"=""`)
}

// StreamFusion 7dcb9f01: the options of an upsert table's key are not those of its value.
func TestKeyOptionsReport(t *testing.T) {
	typ := row("t", notNull(of(columnar.Timestamp)))
	iso := withJSON(JSONOptions{Timestamps: TimestampISO8601})
	key, value := mustPart(t, typ, nil, iso, 0), mustPart(t, typ, nil, withJSON(JSONOptions{}), 0)
	e := mustRecords(t, typ, Shape{Key: key, Value: *value, Upsert: true, Timestamp: NoColumn, Headers: NoColumn, Topic: NoColumn})
	checkRecords(t, e, buildKinds(t, typ, []any{columnar.TimestampValue{Millis: 500}}),
		`0 - -1 "{\"t\":\"1970-01-01T00:00:00.5\"}" "{\"t\":\"1970-01-01 00:00:00.5\"}"`)
}
