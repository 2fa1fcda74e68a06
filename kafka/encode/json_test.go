package encode

import (
	"errors"
	"math"
	"math/big"
	"strings"
	"testing"

	"penstock.dev/penstock/columnar"
)

func TestScalars(t *testing.T) {
	for _, c := range []struct {
		typ   *columnar.Type
		value any
		want  string
	}{
		{of(columnar.Boolean), true, "true"},
		{of(columnar.Boolean), false, "false"},
		{of(columnar.TinyInt), -128, "-128"},
		{of(columnar.SmallInt), -32768, "-32768"},
		{of(columnar.Integer), math.MinInt32, "-2147483648"},
		{of(columnar.BigInt), int64(math.MinInt64), "-9223372036854775808"},
		{of(columnar.Float), float32(0.1), "0.1"},
		{of(columnar.Double), 2e23, "1.9999999999999998E23"},
		{of(columnar.Double), math.Inf(-1), `"-Infinity"`},
		{decimalType(10, 2), big.NewInt(10000), "1E+2"},
		{of(columnar.Char), "a ", `"a "`},
		{of(columnar.VarChar), "", `""`},
		{of(columnar.Binary), "", `""`},
		{of(columnar.VarBinary), "\xFB\xFF\x00\x01", `"+/8AAQ=="`},
		{of(columnar.VarBinary), strings.Repeat("\xFB", 100), `"` + strings.Repeat("+/v7", 33) + `+w=="`},
		{of(columnar.IntervalYearMonth), -14, "-14"},
		{of(columnar.IntervalDayTime), int64(-5), "-5"},
		{of(columnar.Array, of(columnar.Integer)), []any{}, "[]"},
		{of(columnar.Array, of(columnar.Integer)), []any{1, nil, 3}, "[1,null,3]"},
		{of(columnar.Array, of(columnar.Array, of(columnar.VarChar))), []any{[]any{}, nil, []any{"x"}}, `[[],null,["x"]]`},
		{row(), []any{}, "{}"},
		{row("x", of(columnar.Integer), "y", row("z", of(columnar.Boolean))), []any{1, []any{true}}, `{"x":1,"y":{"z":true}}`},
		{of(columnar.VarChar), nil, "null"},
		{row("x", of(columnar.Integer)), nil, "null"},
	} {
		if got := encodeOne(t, c.typ, JSONOptions{}, c.value); got != c.want {
			t.Errorf("%v %v: got %s, want %s", c.typ.Kind, c.value, got, c.want)
		}
	}
	if got := encodeOne(t, of(columnar.Double), JSONOptions{Floats: FloatsShortest}, 2e23); got != "2.0E23" {
		t.Errorf("shortest: got %s", got)
	}
}

// What Flink 2.2.1 writes for the same rows; nulls in arrays and map values stay.
func TestIgnoreNullFields(t *testing.T) {
	inner := row("x", of(columnar.Integer), "y", of(columnar.Integer))
	typ := row("a", of(columnar.Array, inner), "n", of(columnar.VarChar), "m", of(columnar.Map, of(columnar.VarChar), of(columnar.Integer)))
	rows := [][]any{
		{[]any{nil, []any{nil, 1}, []any{nil, nil}}, nil, []columnar.Entry{{Key: "k"}}},
		{nil, "s", nil},
		{nil, nil, nil},
	}
	for ignore, want := range map[bool][]string{
		true:  {`{"a":[null,{"y":1},{}],"m":{"k":null}}`, `{"n":"s"}`, `{}`},
		false: {`{"a":[null,{"x":null,"y":1},{"x":null,"y":null}],"n":null,"m":{"k":null}}`, `{"a":null,"n":"s","m":null}`, `{"a":null,"n":null,"m":null}`},
	} {
		got, err := encodeRows(t, typ, JSONOptions{IgnoreNullFields: ignore}, rows...)
		if err != nil || strings.Join(got, "\n") != strings.Join(want, "\n") {
			t.Errorf("ignore %v: got %q, %v\nwant %q", ignore, got, err, want)
		}
	}
}

func TestEmptyRowType(t *testing.T) {
	got, err := encodeRows(t, row(), JSONOptions{}, []any{}, []any{})
	if err != nil || strings.Join(got, "") != "{}{}" {
		t.Errorf("got %q, %v", got, err)
	}
}

func TestNullInNotNullColumn(t *testing.T) {
	integer := notNull(of(columnar.Integer))
	for path, c := range map[string]struct {
		typ   *columnar.Type
		value any
	}{
		"f":   {integer, nil},
		"f[]": {of(columnar.Array, integer), []any{1, nil}},
		"f.x": {row("x", integer), []any{nil}},
		"f{}": {of(columnar.Map, of(columnar.VarChar), integer), []columnar.Entry{{Key: "k"}}},
	} {
		for _, ignore := range []bool{false, true} {
			good := c.value
			if path == "f" {
				good = 1
			} else {
				good = nil
			}
			_, err := encodeRows(t, row("f", c.typ), JSONOptions{IgnoreNullFields: ignore}, []any{good}, []any{c.value})
			var rowErr *RowError
			if !errors.As(err, &rowErr) || rowErr.Row != 1 || rowErr.Column != path || !strings.Contains(err.Error(), "NOT NULL") {
				t.Errorf("%s, ignore %v: got %v", path, ignore, err)
			}
		}
	}
}

func TestSelection(t *testing.T) {
	typ := row("f", of(columnar.Integer))
	batch := build(t, typ, []any{0}, []any{1}, []any{2}, []any{3})
	e := NewEncoder(mustCompile(t, typ, JSONOptions{}))
	for want, sel := range map[string]Selection{
		`{"f":0}{"f":1}{"f":2}{"f":3}`: AllRows(batch),
		`{"f":1}{"f":2}`:               RowRange(1, 2),
		"":                             RowRange(4, 0),
		`{"f":3}{"f":0}{"f":3}`:        RowList([]uint32{3, 0, 3}),
	} {
		out, err := e.Encode(batch, sel)
		if err != nil || string(out.Values) != want || out.Len() != sel.count || out.Offsets[0] != 0 {
			t.Errorf("want %q, got %+v, %v", want, out, err)
		}
	}
	for _, sel := range []Selection{RowRange(0, 5), RowRange(-1, 1), RowRange(2, -1), RowRange(5, 0), RowRange(3, math.MaxInt), RowList([]uint32{4})} {
		if _, err := e.Encode(batch, sel); err == nil || !strings.Contains(err.Error(), "selection") {
			t.Errorf("%+v: got %v", sel, err)
		}
	}
}
