package encode

import (
	"encoding/hex"
	"errors"
	"math"
	"math/big"
	"strings"
	"testing"

	"penstock.dev/penstock/columnar"
)

func mustCompileAvro(tb testing.TB, typ *columnar.Type, opts AvroOptions) *Plan {
	tb.Helper()
	p, err := CompileAvro(typ, opts)
	if err != nil {
		tb.Fatal(err)
	}
	return p
}

// avroHex writes one row and returns its bytes in hexadecimal.
func avroHex(tb testing.TB, opts AvroOptions, typ *columnar.Type, values ...any) (string, error) {
	tb.Helper()
	batch := build(tb, typ, values)
	e := NewEncoder(mustCompileAvro(tb, typ, opts))
	e.SetSchemaID(0x01020304)
	out, err := e.Encode(batch, AllRows(batch))
	if err != nil {
		return "", err
	}
	return hex.EncodeToString(out.Values), nil
}

func at(kind columnar.Kind, precision int) *columnar.Type {
	t := of(kind)
	t.Precision = precision
	return t
}

func number(text string) *big.Int {
	v, ok := new(big.Int).SetString(text, 0)
	if !ok {
		panic(text)
	}
	return v
}

// What Flink 2.2 with Avro 1.11 writes for a nullable column.
func TestAvroValues(t *testing.T) {
	text := of(columnar.VarChar)
	nines := number(strings.Repeat("9", 38))
	for _, c := range []struct {
		typ   *columnar.Type
		value any
		want  string
	}{
		{of(columnar.Integer), nil, "00"}, {of(columnar.Integer), 1, "0202"}, {of(columnar.Integer), -1, "0201"},
		{notNull(of(columnar.Integer)), 1, "02"},
		{of(columnar.Integer), math.MaxInt32, "02feffffff0f"}, {of(columnar.Integer), math.MinInt32, "02ffffffff0f"},
		{of(columnar.BigInt), int64(math.MinInt64), "02ffffffffffffffffff01"}, {of(columnar.BigInt), 64, "028001"},
		{of(columnar.TinyInt), 5, "020a"}, {of(columnar.TinyInt), -128, "02ff01"}, {of(columnar.SmallInt), -2, "0203"},
		{of(columnar.Boolean), true, "0201"}, {of(columnar.Boolean), false, "0200"},
		{of(columnar.Float), float32(1.5), "020000c03f"}, {of(columnar.Double), -0.0, "020000000000000000"},
		{of(columnar.Double), math.Float64frombits(0x7FF8000000000123), "02230100000000f87f"},
		{of(columnar.Date), -1, "0201"}, {of(columnar.Time), 86_399_999, "02feefb252"},
		{decimalType(10, 2), big.NewInt(0), "020200"}, {decimalType(10, 2), big.NewInt(-1), "0202ff"},
		{decimalType(10, 2), big.NewInt(127), "02027f"}, {decimalType(10, 2), big.NewInt(128), "02040080"},
		{decimalType(10, 2), big.NewInt(-128), "020280"}, {decimalType(10, 2), big.NewInt(-129), "0204ff7f"},
		{decimalType(38, 0), number("0x7FFFFFFFFFFFFFFF"), "02107fffffffffffffff"},
		{decimalType(38, 0), number("0x8000000000000000"), "0212008000000000000000"},
		{decimalType(38, 0), number("-0x8000000000000000"), "02108000000000000000"},
		{decimalType(38, 0), number("-0x8000000000000001"), "0212ff7fffffffffffffff"},
		{decimalType(38, 0), nines, "02204b3b4ca85a86c47a098a223fffffffff"},
		{text, "a", "020261"}, {text, "", "0200"}, {text, "é€", "020ac3a9e282ac"}, {of(columnar.Char), strings.Repeat("x", 64), "028001" + strings.Repeat("78", 64)},
		// Malformed UTF-8 is replaced in the grouping of the JDK.
		{text, "\xED\xA0\x80A\xC3", "020eefbfbd41efbfbd"}, {text, "\xF4\x90\x80\x80", "0218" + strings.Repeat("efbfbd", 4)},
		{of(columnar.VarBinary), "\xFF\x00", "0204ff00"}, {of(columnar.Binary), "", "0200"},
		{at(columnar.Timestamp, 3), columnar.TimestampValue{Millis: -1, Nanos: 999_999}, "0201"},
		{at(columnar.Timestamp, 3), columnar.TimestampValue{Millis: math.MaxInt64}, "02feffffffffffffffff01"},
		{of(columnar.Array, text), []any{}, "0200"}, {of(columnar.Array, text), []any{"a", nil}, "020402026100" + "00"},
		{of(columnar.Array, notNull(text)), []any{"a"}, "0202026100"},
		{row("x", of(columnar.Integer), "y", row("z", text)), []any{nil, []any{"a"}}, "02" + "00" + "02" + "020261"},
		{of(columnar.Multiset, text), entries{{Key: "a", Value: 3}, {Key: "b", Value: nil}}, "02" + "04" + "0261" + "0206" + "0262" + "00" + "00"},
		{of(columnar.Map, text, text), entries{}, "0200"},
		// The order of java.util.HashMap, made for four entries, and the last value of a repeated key at its first place.
		{
			of(columnar.Map, text, of(columnar.Integer)),
			entries{{Key: "z", Value: 0}, {Key: "y", Value: 1}, {Key: "x", Value: 2}, {Key: "w", Value: 3}},
			"02" + "08" + "02780204" + "02790202" + "027a0200" + "02770206" + "00",
		},
		{of(columnar.Map, text, of(columnar.Integer)), entries{{Key: "b", Value: 1}, {Key: "b", Value: 2}}, "02" + "02" + "02620204" + "00"},
		// Keys are equal when their text is, after the replacement.
		{of(columnar.Map, text, of(columnar.Integer)), entries{{Key: "\x80", Value: 1}, {Key: "\xFF", Value: 2}}, "02" + "02" + "06efbfbd0204" + "00"},
		{
			of(columnar.Map, text, of(columnar.Map, text, text)),
			entries{{Key: "b", Value: entries{{Key: "d", Value: "1"}, {Key: "c", Value: "2"}}}, {Key: "a", Value: nil}},
			"02" + "04" + "0261" + "00" + "0262" + "02" + "04" + "0264" + "020231" + "0263" + "020232" + "00" + "00",
		},
	} {
		got, err := avroHex(t, AvroOptions{}, row("f", c.typ), c.value)
		if err != nil || got != c.want {
			t.Errorf("%v %v: got %s, %v, want %s", c.typ.Kind, c.value, got, err, c.want)
		}
	}
}

// With the newer mapping a TIMESTAMP wraps at an int of days, and TIMESTAMP_LTZ does not.
func TestAvroLocalTimestamps(t *testing.T) {
	for _, c := range []struct {
		kind   columnar.Kind
		millis int64
		want   string
	}{
		{columnar.Timestamp, 185542587187199999, "02feffffffffff96930500"}, {columnar.Timestamp, 185542587187200000, "02ffffffffffff96930500"},
		{columnar.Timestamp, math.MinInt64, "02808080808080febe0100"}, {columnar.Timestamp, math.MaxInt64, "02818080808080febe0100"},
		{columnar.TimestampLTZ, math.MaxInt64, "02feffffffffffffffff0100"}, {columnar.Timestamp, -1, "020100"},
	} {
		typ := row("f", at(c.kind, 6), "g", of(columnar.Integer))
		got, err := avroHex(t, AvroOptions{LocalTimestamps: true}, typ, columnar.TimestampValue{Millis: c.millis, Nanos: 999_999}, nil)
		if err != nil || got != c.want {
			t.Errorf("%d: got %s, %v, want %s", c.millis, got, err, c.want)
		}
	}
}

func TestAvroRegistry(t *testing.T) {
	typ := row("id", of(columnar.Integer), "name", of(columnar.VarChar))
	got, err := avroHex(t, AvroOptions{Registry: true}, typ, 1, "a")
	if want := "0001020304" + "0202" + "020261"; err != nil || got != want {
		t.Errorf("got %s, %v, want %s", got, err, want)
	}
	batch := build(t, typ, []any{1, "a"})
	e := NewEncoder(mustCompileAvro(t, typ, AvroOptions{Registry: true}))
	var missing *NoSchemaID
	if _, err := e.Encode(batch, AllRows(batch)); !errors.As(err, &missing) || missing.Format != "avro-confluent" {
		t.Errorf("without an id: %v", err)
	}
	if _, set := e.SchemaID(); set || !e.NeedsSchemaID() {
		t.Error("an id is set, or not needed")
	}
	e.SetSchemaID(-1)
	if id, set := e.SchemaID(); id != -1 || !set {
		t.Errorf("the id is %d, %v", id, set)
	}
	if out, err := e.Encode(batch, AllRows(batch)); err != nil || !strings.HasPrefix(string(out.Values), "\x00\xFF\xFF\xFF\xFF\x02") {
		t.Errorf("after that: %v, %v", out, err)
	}
}

func TestAvroDebezium(t *testing.T) {
	typ := row("id", of(columnar.Integer))
	plan := mustCompileAvro(t, typ, AvroOptions{Registry: true, Debezium: true})
	e := NewEncoder(plan)
	e.SetSchemaID(7)
	batch := changes(t, typ, 1)
	out, err := e.Encode(batch, AllRows(batch))
	if err != nil {
		t.Fatal(err)
	}
	added, removed := "0000000007"+"02"+"00"+"020202"+"020263", "0000000007"+"02"+"020202"+"00"+"020264"
	for i, want := range []string{added, removed, added, removed} {
		if got := hex.EncodeToString(out.Value(i)); got != want {
			t.Errorf("kind %d: got %s, want %s", i, got, want)
		}
	}
	if plan.Format() != "debezium-avro-confluent" || !e.NeedsSchemaID() {
		t.Errorf("the plan is of %s, needs an id: %v", plan.Format(), e.NeedsSchemaID())
	}
	batch.Kinds[2] = 4
	var bad *BadBatch
	if _, err := e.Encode(batch, AllRows(batch)); !errors.As(err, &bad) {
		t.Errorf("kind 4: %v", err)
	}
}

func TestAvroRowErrors(t *testing.T) {
	text, integer := of(columnar.VarChar), of(columnar.Integer)
	inner := entries{{Key: nil, Value: 1}}
	for _, c := range []struct {
		typ          *columnar.Type
		value        any
		column, want string
	}{
		{notNull(integer), nil, "f", "NOT NULL"},
		{of(columnar.Array, notNull(integer)), []any{1, nil}, "f[]", "NOT NULL"},
		{row("x", notNull(text)), []any{nil}, "f.x", "NOT NULL"},
		{of(columnar.Map, text, notNull(integer)), entries{{Key: "a", Value: nil}}, "f{}", "NOT NULL"},
		{of(columnar.Map, text, integer), entries{{Key: "a", Value: 1}, {Key: nil, Value: 1}}, "f", "null key"},
		{of(columnar.Multiset, text), entries{{Key: nil, Value: 1}}, "f", "null key"},
		// Flink converts the value that nobody sees.
		{of(columnar.Map, text, of(columnar.Map, text, integer)), entries{{Key: "a", Value: inner}, {Key: "a", Value: nil}}, "f{}", "null key"},
		{
			of(columnar.Map, text, of(columnar.Array, row("m", of(columnar.Map, text, integer)))),
			entries{{Key: "a", Value: []any{[]any{inner}}}, {Key: "a", Value: nil}}, "f{}[].m", "null key",
		},
	} {
		_, err := avroHex(t, AvroOptions{}, row("f", c.typ), c.value)
		var rowErr *RowError
		if !errors.As(err, &rowErr) || rowErr.Column != c.column || !strings.Contains(rowErr.Reason, c.want) {
			t.Errorf("%v %v: got %v, want %q at %s", c.typ.Kind, c.value, err, c.want, c.column)
		}
	}
	// What is wrong in a value that nobody sees, and shows only when it is written.
	hidden := entries{{Key: "a", Value: []any{nil}}, {Key: "a", Value: nil}}
	got, err := avroHex(t, AvroOptions{}, row("f", of(columnar.Map, text, of(columnar.Array, notNull(integer)))), hidden)
	if err != nil || got != "02"+"02"+"0261"+"00"+"00" {
		t.Errorf("a replaced value: got %s, %v", got, err)
	}
}

// Replaced values are looked at, but not for longer than a batch may be large.
func TestAvroChecksAreBounded(t *testing.T) {
	typ := row("f", of(columnar.Map, of(columnar.VarChar), of(columnar.Array, of(columnar.Integer))))
	long := make([]any, 200)
	batch := build(t, typ, []any{entries{{Key: "a", Value: long}, {Key: "a", Value: nil}}})
	e := NewEncoder(mustCompileAvro(t, typ, AvroOptions{}))
	e.MaxBytes = 100
	var bad *BadBatch
	if _, err := e.Encode(batch, AllRows(batch)); !errors.As(err, &bad) {
		t.Errorf("got %v", err)
	}
}

func TestCompileAvroRefuses(t *testing.T) {
	integer, text := of(columnar.Integer), of(columnar.VarChar)
	local := AvroOptions{LocalTimestamps: true}
	for _, c := range []struct {
		typ  *columnar.Type
		opts AvroOptions
		want string
	}{
		{nil, AvroOptions{}, "avro: the schema must be a ROW"},
		{row("a", integer), AvroOptions{Debezium: true}, "debezium without registry"},
		{row("a", integer), AvroOptions{Registry: true, LocalTimestamps: true}, "avro-confluent: timestamp_mapping.legacy"},
		{row("a", of(columnar.IntervalDayTime)), AvroOptions{}, `avro: column "a": type`},
		{row("a", of(columnar.IntervalYearMonth)), AvroOptions{Registry: true}, `avro-confluent: column "a": type`},
		{row("a", of(columnar.Null)), AvroOptions{}, "is not supported by Flink's avro format"},
		{row("a", at(columnar.Time, 4)), AvroOptions{}, `column "a": Avro does not support TIME type with precision: 4`},
		{row("a", at(columnar.Timestamp, 4)), AvroOptions{}, "Avro does not support TIMESTAMP type with precision: 4"},
		{row("a", at(columnar.Timestamp, 7)), local, "Avro does not support TIMESTAMP type with precision: 7"},
		{row("a", at(columnar.TimestampLTZ, 3)), AvroOptions{}, "avro has no TIMESTAMP_LTZ"},
		{row("a", at(columnar.TimestampLTZ, 7)), local, "precision: 7"},
		{row("a", of(columnar.Array, at(columnar.TimestampLTZ, 3))), local, `column "a[]": avro has no TIMESTAMP_LTZ`},
		{row("a", of(columnar.Map, text, at(columnar.Timestamp, 6))), local, `column "a{}": Avro does not support TIMESTAMP`},
		{row("a", of(columnar.Array, row("x", at(columnar.Timestamp, 6)))), local, `column "a[].x": Avro does not support TIMESTAMP`},
		{row("a", of(columnar.Map, integer, text)), AvroOptions{}, "Avro format doesn't support non-string as key type of map"},
		{row("a", of(columnar.Multiset, integer)), AvroOptions{}, "Avro format doesn't support non-string"},
		{row("a", row("x", of(columnar.Map, of(columnar.Binary), text))), AvroOptions{}, `column "a.x": Avro format`},
		{row("a", of(columnar.Array, row())), AvroOptions{}, `column "a[]": a ROW without fields`},
		{row("a", decimalType(39, 0)), AvroOptions{}, "DECIMAL(39, 0) is not valid"},
	} {
		if _, err := CompileAvro(c.typ, c.opts); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("got %v, want an error with %q", err, c.want)
		}
	}
	if _, err := CompileAvro(row("a", row("x", at(columnar.TimestampLTZ, 6), "y", at(columnar.Timestamp, 6))), local); err != nil {
		t.Errorf("timestamps of six digits in a ROW: %v", err)
	}
}
