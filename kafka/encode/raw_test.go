package encode

import (
	"math"
	"strings"
	"testing"

	"penstock.dev/penstock/columnar"
)

func mustCompileRaw(tb testing.TB, typ *columnar.Type, opts RawOptions) *Plan {
	tb.Helper()
	p, err := CompileRaw(typ, opts)
	if err != nil {
		tb.Fatal(err)
	}
	return p
}

func encodeRaw(tb testing.TB, typ *columnar.Type, opts RawOptions, values ...any) *Encoded {
	tb.Helper()
	var rows [][]any
	for _, v := range values {
		rows = append(rows, []any{v})
	}
	batch := build(tb, row("f", typ), rows...)
	out, err := NewEncoder(mustCompileRaw(tb, row("f", typ), opts)).Encode(batch, AllRows(batch))
	if err != nil {
		tb.Fatal(err)
	}
	return out
}

func TestRawTypes(t *testing.T) {
	for _, c := range []struct {
		typ         *columnar.Type
		value       any
		big, little string
	}{
		{of(columnar.Boolean), true, "\x01", "\x01"},
		{of(columnar.Boolean), false, "\x00", "\x00"},
		{of(columnar.TinyInt), -2, "\xFE", "\xFE"},
		{of(columnar.SmallInt), 0x0102, "\x01\x02", "\x02\x01"},
		{of(columnar.Integer), -2, "\xFF\xFF\xFF\xFE", "\xFE\xFF\xFF\xFF"},
		{of(columnar.BigInt), 0x0102030405060708, "\x01\x02\x03\x04\x05\x06\x07\x08", "\x08\x07\x06\x05\x04\x03\x02\x01"},
		{of(columnar.Float), float32(1), "\x3F\x80\x00\x00", "\x00\x00\x80\x3F"},
		{of(columnar.Double), -2.0, "\xC0\x00\x00\x00\x00\x00\x00\x00", "\x00\x00\x00\x00\x00\x00\x00\xC0"},
		{of(columnar.Double), math.Float64frombits(0x7FF8000000000123), "\x7F\xF8\x00\x00\x00\x00\x01\x23", "\x23\x01\x00\x00\x00\x00\xF8\x7F"},
		{of(columnar.Char), "a ", "a ", "a "},
		{of(columnar.VarChar), "a\"\n€\U0001F600", "a\"\n€\U0001F600", "a\"\n€\U0001F600"},
		// Bytes, not text: nothing is replaced.
		{of(columnar.VarChar), "\xED\xA0\x80\xFF", "\xED\xA0\x80\xFF", "\xED\xA0\x80\xFF"},
		{of(columnar.Binary), "\x00\xFB", "\x00\xFB", "\x00\xFB"},
		{of(columnar.VarBinary), "", "", ""},
	} {
		for want, opts := range map[*string]RawOptions{&c.big: {}, &c.little: {LittleEndian: true}} {
			// The second row shows that values are found by their index.
			out := encodeRaw(t, c.typ, opts, c.value, c.value)
			if got := string(out.Value(1)); out.Len() != 2 || got != *want || len(out.ValueNulls) != 0 || out.Value(0) == nil {
				t.Errorf("%v %v, %+v: got %x, want %x", c.typ.Kind, c.value, opts, got, *want)
			}
		}
	}
}

// A NULL is a tombstone, also in a NOT NULL column; an empty string is not.
func TestRawNulls(t *testing.T) {
	for _, typ := range []*columnar.Type{of(columnar.VarChar), notNull(of(columnar.VarChar))} {
		values := make([]any, 19)
		for i := range values {
			values[i] = ""
		}
		values[0], values[9], values[18] = nil, nil, nil
		out := encodeRaw(t, typ, RawOptions{}, values...)
		if string(out.ValueNulls) != "\x01\x02\x04" || len(out.Values) != 0 {
			t.Errorf("nulls are %x, values %q", out.ValueNulls, out.Values)
		}
		for i, v := range values {
			if got := out.Value(i); (got == nil) != (v == nil) {
				t.Errorf("value %d is %#v", i, got)
			}
		}
	}
}

// The nulls of one batch do not reach the next one, and follow the selection.
func TestRawNullsAreOfOneBatch(t *testing.T) {
	typ := row("f", of(columnar.Integer))
	e := NewEncoder(mustCompileRaw(t, typ, RawOptions{}))
	nulls, values := build(t, typ, []any{nil}, []any{1}, []any{nil}), build(t, typ, []any{1}, []any{2}, []any{nil})
	for _, c := range []struct {
		batch *columnar.Batch
		sel   Selection
		want  string
	}{
		{nulls, AllRows(nulls), "\x05"}, {values, RowRange(0, 2), ""}, {values, AllRows(values), "\x04"}, {nulls, RowList([]uint32{1, 2}), "\x02"},
	} {
		if out, err := e.Encode(c.batch, c.sel); err != nil || string(out.ValueNulls) != c.want {
			t.Errorf("%+v: got %x, %v, want %x", c.sel, out.ValueNulls, err, c.want)
		}
	}
}

func TestCompileRawRefuses(t *testing.T) {
	text := of(columnar.VarChar)
	cases := map[string]*columnar.Type{
		"raw: the schema must be a ROW":                         text,
		"only supports single physical column; the table has 2": row("a", text, "b", text),
		"only supports single physical column; the table has 0": row(),
	}
	for name, typ := range map[string]*columnar.Type{
		"DECIMAL": decimalType(3, 1), "DATE": of(columnar.Date), "TIME": of(columnar.Time), "TIMESTAMP": of(columnar.Timestamp),
		"TIMESTAMP_LTZ": of(columnar.TimestampLTZ), "INTERVAL DAY TO SECOND": of(columnar.IntervalDayTime), "ARRAY": of(columnar.Array, text),
		"MAP": of(columnar.Map, text, text), "MULTISET": of(columnar.Multiset, text), "ROW": row("x", text), "NULL": of(columnar.Null),
	} {
		cases[`raw: column "a": type `+name+" is not supported by Flink's raw format"] = row("a", typ)
	}
	for want, typ := range cases {
		if _, err := CompileRaw(typ, RawOptions{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want an error with %q", err, want)
		}
	}
}
