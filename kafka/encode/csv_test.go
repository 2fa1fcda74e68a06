package encode

import (
	"errors"
	"math"
	"math/big"
	"strings"
	"testing"

	"penstock.dev/penstock/columnar"
)

func mustCompileCSV(tb testing.TB, typ *columnar.Type, opts CSVOptions) *Plan {
	tb.Helper()
	if opts.Floats == FloatsUnknown {
		opts.Floats = FloatsLegacy
	}
	if opts.Line == LineUnknown {
		opts.Line = Line22
	}
	p, err := CompileCSV(typ, opts)
	if err != nil {
		tb.Fatal(err)
	}
	return p
}

// encodeCSV writes one row of columns of the given types.
func encodeCSV(tb testing.TB, opts CSVOptions, types []*columnar.Type, values ...any) (string, error) {
	tb.Helper()
	var fields []any
	for i, t := range types {
		fields = append(fields, "f"+string(rune('a'+i)), t)
	}
	typ := row(fields...)
	batch := build(tb, typ, values)
	out, err := NewEncoder(mustCompileCSV(tb, typ, opts)).Encode(batch, AllRows(batch))
	if err != nil {
		return "", err
	}
	return string(out.Values), nil
}

// csvField writes one value of one column.
func csvField(tb testing.TB, opts CSVOptions, t *columnar.Type, value any) string {
	tb.Helper()
	got, err := encodeCSV(tb, opts, []*columnar.Type{t}, value)
	if err != nil {
		tb.Fatal(err)
	}
	return got
}

// What Jackson 2.18 writes for strings.
func TestCSVStrings(t *testing.T) {
	x := func(n int, tail string) string { return strings.Repeat("x", n) + tail }
	for _, c := range []struct {
		opts     CSVOptions
		in, want string
	}{
		{CSVOptions{}, "a b", `"a b"`}, {CSVOptions{}, "a,b", `"a,b"`}, {CSVOptions{}, `a"b`, `"a""b"`}, {CSVOptions{}, `a\b`, `"a\b"`},
		{CSVOptions{}, "a;b", "a;b"}, {CSVOptions{}, "a-b", "a-b"}, {CSVOptions{}, "", ""}, {CSVOptions{}, `"`, `""""`},
		{CSVOptions{}, x(24, ""), x(24, "")}, {CSVOptions{}, x(25, ""), `"` + x(25, "") + `"`},
		{CSVOptions{}, x(200, `"`), `"` + x(200, `""`) + `"`},
		{CSVOptions{}, x(22, "\U0001F600"), x(22, "\U0001F600")}, {CSVOptions{}, x(23, "\U0001F600"), `"` + x(23, "\U0001F600") + `"`},
		{CSVOptions{}, strings.Repeat("é", 24), strings.Repeat("é", 24)}, {CSVOptions{}, strings.Repeat("é", 25), `"` + strings.Repeat("é", 25) + `"`},
		{CSVOptions{}, strings.Repeat("€", 24), strings.Repeat("€", 24)}, {CSVOptions{}, "é,", `"é,"`},
		{CSVOptions{}, "\n", "\"\n\""}, {CSVOptions{}, "\t", "\"\t\""}, {CSVOptions{}, "\x00", "\"\x00\""},
		{CSVOptions{EscapeCharacter: '\\'}, `a\b`, `"a\\b"`}, {CSVOptions{EscapeCharacter: '\\'}, `a"b`, `"a""b"`},
		{CSVOptions{EscapeCharacter: '\\'}, `q"\`, `"q""\\"`},
		{CSVOptions{EscapeCharacter: '|'}, "a|b", `"a||b"`}, {CSVOptions{EscapeCharacter: '|'}, `a\b`, `a\b`},
		{CSVOptions{EscapeCharacter: '☃'}, "a☃b", `"a☃☃b"`}, {CSVOptions{EscapeCharacter: '☃'}, `a€\`, `a€\`},
		{CSVOptions{QuoteCharacter: '\''}, `a"b`, `'a"b'`}, {CSVOptions{QuoteCharacter: '\''}, "a'b", "'a''b'"},
		{CSVOptions{QuoteCharacter: '☃'}, "a☃b€", "☃a☃☃b€☃"},
		{CSVOptions{QuotesDisabled: true}, "a,b\"c\nd\\e", "a,b\"c\nd\\e"}, {CSVOptions{QuotesDisabled: true}, x(99, ","), x(99, ",")},
		{CSVOptions{FieldDelimiter: '|'}, "abc", `"abc"`}, {CSVOptions{FieldDelimiter: '|'}, "~", "~"},
		{CSVOptions{FieldDelimiter: '\t'}, "a,b", "a,b"}, {CSVOptions{FieldDelimiter: '\t'}, "a b", `"a b"`}, {CSVOptions{FieldDelimiter: '\t'}, "a#b", "a#b"},
		{CSVOptions{FieldDelimiter: 1}, "a,b", "a,b"}, {CSVOptions{FieldDelimiter: ';'}, "2020", `"2020"`}, {CSVOptions{FieldDelimiter: ';'}, "ab", "ab"},
		{CSVOptions{FieldDelimiter: '☃'}, "~é", `"~é"`}, {CSVOptions{FieldDelimiter: '☃'}, "字", "字"},
		// Surrogates count as the units they are: below a full-width comma, above a snowman.
		{CSVOptions{FieldDelimiter: '，'}, "\U0001F600", "\"\U0001F600\""}, {CSVOptions{FieldDelimiter: '☃'}, "\U0001F600", "\U0001F600"},
		{CSVOptions{FieldDelimiter: 0xD7FF}, "\uE000", "\uE000"},
	} {
		if got := csvField(t, c.opts, of(columnar.VarChar), c.in); got != c.want {
			t.Errorf("%+v %q: got %q, want %q", c.opts, c.in, got, c.want)
		}
	}
}

// Malformed bytes become U+FFFD as in json, quoted or not.
func TestCSVInvalidUTF8(t *testing.T) {
	for in, want := range map[string]string{
		"\x80": "?", "\xC0\x80": "??", "\xF5\x80\x80\x80": "????", "\xC3\xC3\xA9": "?é", "\xE2\x82A": "?A", "\xE2\x82": "?",
		"\xED\xA0\x80\xED\xB0\x80": "??", "\xF0\x9F\x98": "?", "\xF4\x90\x80\x80": "????", "€\xE2\x82€": "€?€",
	} {
		want = strings.ReplaceAll(want, "?", "\uFFFD")
		for head, quote := range map[string]string{"": "", " ": `"`, strings.Repeat("y", 80): `"`} {
			if got := csvField(t, CSVOptions{}, of(columnar.VarChar), head+in); got != quote+head+want+quote {
				t.Errorf("%s%X: got %q, want %q", head, in, got, quote+head+want+quote)
			}
		}
	}
	// A unit counts once, however many bytes it took.
	if got := csvField(t, CSVOptions{}, of(columnar.VarChar), strings.Repeat("\xED\xA0\x80", 24)); got != strings.Repeat("\uFFFD", 24) {
		t.Errorf("24 malformed units: got %q", got)
	}
}

func TestCSVScalars(t *testing.T) {
	day := int64(18262)
	at := columnar.TimestampValue{Millis: day*millisPerDay + 45_296_500, Nanos: 1}
	for _, c := range []struct {
		opts  CSVOptions
		typ   *columnar.Type
		value any
		want  string
	}{
		{CSVOptions{}, of(columnar.Boolean), true, "true"},
		{CSVOptions{}, of(columnar.Boolean), false, "false"},
		{CSVOptions{}, of(columnar.TinyInt), -128, "-128"},
		{CSVOptions{}, of(columnar.SmallInt), -32768, "-32768"},
		{CSVOptions{}, of(columnar.Integer), math.MinInt32, "-2147483648"},
		{CSVOptions{}, of(columnar.BigInt), int64(math.MinInt64), "-9223372036854775808"},
		{CSVOptions{}, of(columnar.Float), float32(0.1), "0.1"},
		{CSVOptions{}, of(columnar.Float), float32(math.NaN()), "NaN"},
		{CSVOptions{}, of(columnar.Double), 2e23, "1.9999999999999998E23"},
		{CSVOptions{Floats: FloatsShortest}, of(columnar.Double), 2e23, "2.0E23"},
		{CSVOptions{}, of(columnar.Double), math.Inf(1), "Infinity"},
		{CSVOptions{}, of(columnar.Double), math.Inf(-1), "-Infinity"},
		{CSVOptions{}, decimalType(10, 2), big.NewInt(10000), "100.00"},
		{CSVOptions{ScientificDecimals: true}, decimalType(10, 2), big.NewInt(10000), "1E+2"},
		{CSVOptions{}, decimalType(10, 2), big.NewInt(0), "0.00"},
		{CSVOptions{ScientificDecimals: true}, decimalType(10, 2), big.NewInt(0), "0"},
		{CSVOptions{}, decimalType(38, 0), new(big.Int).Exp(big.NewInt(10), big.NewInt(37), nil), "1" + strings.Repeat("0", 37)},
		{CSVOptions{}, of(columnar.VarBinary), "\x01\x02\x03", "AQID"},
		{CSVOptions{}, of(columnar.VarBinary), "\xFB\xFF\x00\x01", `"+/8AAQ=="`},
		{CSVOptions{}, of(columnar.Binary), strings.Repeat("\xFF", 18), strings.Repeat("/", 24)},
		{CSVOptions{}, of(columnar.Binary), strings.Repeat("\xFF", 19), `"` + strings.Repeat("/", 25) + `w=="`},
		{CSVOptions{}, of(columnar.Binary), "", ""},
		{CSVOptions{}, of(columnar.Date), day, "2020-01-01"},
		{CSVOptions{FieldDelimiter: ';'}, of(columnar.Date), day, `"2020-01-01"`},
		{CSVOptions{}, of(columnar.Date), -719893, "-0001-01-01"},
		{CSVOptions{}, of(columnar.Date), 2932897, `"+10000-01-01"`},
		{CSVOptions{}, of(columnar.Time), 43_200_000, "12:00:00"},
		{CSVOptions{}, of(columnar.Time), 45_296_789, "12:34:56.789"},
		{CSVOptions{}, of(columnar.Time), 500, "00:00:00.5"},
		{CSVOptions{}, of(columnar.Time), 86_399_999, "23:59:59.999"},
		{CSVOptions{}, of(columnar.Timestamp), at, `"2020-01-01 12:34:56.500000001"`},
		{CSVOptions{}, of(columnar.TimestampLTZ), at, `"2020-01-01 12:34:56.500000001Z"`},
		// Both wrap at the range of an int of days.
		{CSVOptions{}, of(columnar.Timestamp), columnar.TimestampValue{Millis: math.MaxInt64}, `"-1701532-04-06 07:12:55.807"`},
		{CSVOptions{}, of(columnar.TimestampLTZ), columnar.TimestampValue{Millis: math.MaxInt64}, `"-1701532-04-06 07:12:55.807Z"`},
		{CSVOptions{}, of(columnar.TimestampLTZ), columnar.TimestampValue{Millis: math.MinInt64, Nanos: 264_000}, `"+1705471-09-26 16:47:04.192264Z"`},
		{CSVOptions{QuotesDisabled: true}, of(columnar.Timestamp), at, "2020-01-01 12:34:56.500000001"},
		{CSVOptions{QuoteCharacter: '0'}, of(columnar.Timestamp), at, "0200200-001-001 12:34:56.5" + strings.Repeat("0", 14) + "10"},
		{CSVOptions{EscapeCharacter: 'Z'}, of(columnar.TimestampLTZ), at, `"2020-01-01 12:34:56.500000001ZZ"`},
		{CSVOptions{FieldDelimiter: 1, QuoteCharacter: 2}, of(columnar.Timestamp), columnar.TimestampValue{}, "1970-01-01 00:00:00"},
		{CSVOptions{FieldDelimiter: 1, QuoteCharacter: 2}, of(columnar.Timestamp), at, "\x022020-01-01 12:34:56.500000001\x02"},
		{CSVOptions{}, of(columnar.Null), nil, ""},
		{CSVOptions{NullLiteral: "n,a"}, of(columnar.Null), nil, "n,a"},
		{CSVOptions{NullLiteral: "n,a"}, of(columnar.VarChar), nil, "n,a"},
		{CSVOptions{NullLiteral: "NULL"}, of(columnar.VarChar), "NULL", "NULL"},
		{CSVOptions{NullLiteral: "NULL"}, notNull(of(columnar.VarChar)), nil, "NULL"},
	} {
		if got := csvField(t, c.opts, c.typ, c.value); got != c.want {
			t.Errorf("%+v, %v %v: got %q, want %q", c.opts, c.typ.Kind, c.value, got, c.want)
		}
	}
}

func TestCSVNested(t *testing.T) {
	text, integer := of(columnar.VarChar), of(columnar.Integer)
	array := of(columnar.Array, text)
	mixed := row("a", text, "b", text, "c", text, "d", of(columnar.Boolean), "e", of(columnar.Float), "f", of(columnar.Double),
		"g", of(columnar.BigInt), "h", of(columnar.VarBinary))
	for _, c := range []struct {
		opts  CSVOptions
		typ   *columnar.Type
		value any
		want  string
	}{
		{CSVOptions{}, array, []any{}, ""},
		{CSVOptions{}, array, []any{nil}, ""},
		{CSVOptions{}, array, []any{""}, ""},
		{CSVOptions{}, array, []any{nil, nil}, ";"},
		{CSVOptions{}, array, nil, ""},
		{CSVOptions{NullLiteral: "n,a"}, array, nil, "n,a"},
		{CSVOptions{NullLiteral: "n,a"}, array, []any{"x", nil}, `"x;n,a"`},
		{CSVOptions{}, array, []any{"a;b", `c"`}, `"a;b;c"""`},
		{CSVOptions{ArrayElementDelimiter: ','}, array, []any{"a", "b"}, `"a,b"`},
		{CSVOptions{ArrayElementDelimiter: '☃'}, array, []any{"a", "b"}, "a☃b"},
		{CSVOptions{QuotesDisabled: true}, array, []any{"a,b", `c"`}, `a,b;c"`},
		{CSVOptions{}, array, []any{"\xED\xA0\x80", "\U0001F600"}, "\uFFFD;\U0001F600"},
		{CSVOptions{}, of(columnar.Array, of(columnar.Null)), []any{nil, nil, nil}, ";;"},
		{CSVOptions{}, of(columnar.Array, of(columnar.Timestamp)), []any{columnar.TimestampValue{}}, `"1970-01-01 00:00:00"`},
		{CSVOptions{}, of(columnar.Array, of(columnar.Time)), []any{1, nil, 60_000}, "00:00:00.001;;00:01:00"},
		{CSVOptions{}, of(columnar.Array, of(columnar.Double)), []any{math.NaN(), -0.0, 1e7}, "NaN;0.0;1.0E7"},
		{CSVOptions{}, of(columnar.Array, decimalType(10, 7)), []any{big.NewInt(1)}, "0.0000001"},
		{CSVOptions{ScientificDecimals: true}, of(columnar.Array, decimalType(10, 7)), []any{big.NewInt(1)}, "1E-7"},
		{CSVOptions{}, of(columnar.Array, decimalType(10, 2)), []any{big.NewInt(10000)}, "100.00"},
		{CSVOptions{ScientificDecimals: true}, of(columnar.Array, decimalType(10, 2)), []any{big.NewInt(10000)}, `"1E+2"`},
		{CSVOptions{}, mixed, []any{"a", "b", "c", true, float32(1.5), 1.5, math.MaxInt64, "\x01"}, `"a;b;c;true;1.5;1.5;9223372036854775807;AQ=="`},
		{CSVOptions{NullLiteral: "-"}, row("x", integer, "y", notNull(integer)), []any{1, nil}, "1;-"},
		{CSVOptions{}, row(), []any{}, ""},
	} {
		if got := csvField(t, c.opts, c.typ, c.value); got != c.want {
			t.Errorf("%+v, %v %v: got %q, want %q", c.opts, c.typ.Kind, c.value, got, c.want)
		}
	}
}

func TestCSVRows(t *testing.T) {
	text, integer := of(columnar.VarChar), of(columnar.Integer)
	for _, c := range []struct {
		opts   CSVOptions
		types  []*columnar.Type
		values []any
		want   string
	}{
		{CSVOptions{}, []*columnar.Type{text, integer, text}, []any{"a", 1, nil}, "a,1,"},
		{CSVOptions{}, []*columnar.Type{text, text, text}, []any{nil, nil, nil}, ",,"},
		{CSVOptions{}, []*columnar.Type{text}, []any{nil}, ""},
		{CSVOptions{FieldDelimiter: '|'}, []*columnar.Type{text, text, integer, of(columnar.Boolean)}, []any{"abc", "~", 12, true}, `"abc"|~|12|true`},
		{CSVOptions{FieldDelimiter: '-'}, []*columnar.Type{integer, integer, of(columnar.Double)}, []any{-1, -5, -1.5}, "-1--5--1.5"},
		{CSVOptions{FieldDelimiter: '☃'}, []*columnar.Type{integer, integer}, []any{1, 2}, "1☃2"},
		{CSVOptions{NullLiteral: "☃"}, []*columnar.Type{integer, integer}, []any{nil, 2}, "☃,2"},
	} {
		if got, err := encodeCSV(t, c.opts, c.types, c.values...); err != nil || got != c.want {
			t.Errorf("%+v %v: got %q, %v, want %q", c.opts, c.values, got, err, c.want)
		}
	}
}

// An empty value is not a null one.
func TestCSVEmptyValue(t *testing.T) {
	typ := row("f", of(columnar.VarChar))
	batch := build(t, typ, []any{nil}, []any{""})
	out, err := NewEncoder(mustCompileCSV(t, typ, CSVOptions{})).Encode(batch, AllRows(batch))
	if err != nil || len(out.ValueNulls) != 0 || out.Value(0) == nil || len(out.Value(0)) != 0 || out.Value(1) == nil {
		t.Errorf("got %+v, %v", out, err)
	}
}

func TestCSVTimeOutsideOfADay(t *testing.T) {
	for _, millis := range []int{-1, millisPerDay, math.MaxInt32, math.MinInt32} {
		_, err := encodeCSV(t, CSVOptions{}, []*columnar.Type{of(columnar.Time)}, millis)
		var rowErr *RowError
		if !errors.As(err, &rowErr) || rowErr.Column != "fa" || !strings.Contains(rowErr.Reason, "outside of one day") {
			t.Errorf("%d: got %v", millis, err)
		}
	}
}

func TestCompileCSVRefuses(t *testing.T) {
	integer, text := of(columnar.Integer), of(columnar.VarChar)
	for _, c := range []struct {
		typ  *columnar.Type
		opts CSVOptions
		want string
	}{
		{nil, CSVOptions{}, "csv: the schema must be a ROW"},
		{row("a", of(columnar.Map, text, text)), CSVOptions{}, `csv: column "a": type MAP is not supported by Flink's csv format`},
		{row("a", of(columnar.Multiset, text)), CSVOptions{}, "type MULTISET is not supported"},
		{row("a", of(columnar.IntervalYearMonth)), CSVOptions{}, "is not supported by Flink's csv format"},
		{row("a", of(columnar.IntervalDayTime)), CSVOptions{}, "is not supported by Flink's csv format"},
		{row("a", of(columnar.Array, of(columnar.Array, integer))), CSVOptions{}, `column "a[]": Only simple types are supported in the second level`},
		{row("a", of(columnar.Array, row("x", integer))), CSVOptions{}, `column "a[]": Only simple types`},
		{row("a", row("x", of(columnar.Array, integer))), CSVOptions{}, `column "a.x": Only simple types`},
		{row("a", row("x", row())), CSVOptions{}, `column "a.x": Only simple types`},
		{row("a", row("x", of(columnar.Map, text, text))), CSVOptions{}, `column "a.x": type MAP is not supported`},
		{row("a", of(columnar.Array, of(columnar.IntervalDayTime))), CSVOptions{}, `column "a[]": type`},
		{row("a", of(columnar.Float)), CSVOptions{}, "the JVM's spelling of floats is not known"},
		{row("a", decimalType(39, 0)), CSVOptions{}, "DECIMAL(39, 0) is not valid"},
		{row("a", text), CSVOptions{Floats: 9}, "float spelling: unknown value 9"},
		{row("a", text), CSVOptions{FieldDelimiter: 0x1F600}, "csv.field-delimiter: U+1F600 is not a character"},
		{row("a", text), CSVOptions{QuoteCharacter: 0xD800}, "csv.quote-character: U+D800"},
		{row("a", text), CSVOptions{ArrayElementDelimiter: -1}, "csv.array-element-delimiter: U+FFFFFFFF"},
		{row("a", text), CSVOptions{EscapeCharacter: 0xDFFF}, "csv.escape-character: U+DFFF"},
		{row("a", text), CSVOptions{QuoteCharacter: '\'', QuotesDisabled: true}, "Format cannot define a quote character and disabled"},
		{row("a", text), CSVOptions{NullLiteral: "\xFF"}, "csv.null-literal"},
	} {
		if _, err := CompileCSV(c.typ, c.opts); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("got %v, want an error with %q", err, c.want)
		}
	}
}
