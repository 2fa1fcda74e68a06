package encode

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"penstock.dev/penstock/columnar"
)

type entries = []columnar.Entry

func TestMaps(t *testing.T) {
	text, integer := of(columnar.VarChar), of(columnar.Integer)
	toInt, toMap := of(columnar.Map, text, integer), of(columnar.Map, text, of(columnar.Map, text, integer))
	for _, c := range []struct {
		name  string
		typ   *columnar.Type
		opts  JSONOptions
		value any
		want  string
	}{
		{"empty", toInt, JSONOptions{}, entries{}, `{}`},
		{"order of the entries", toInt, JSONOptions{}, entries{{Key: "z", Value: 1}, {Key: "a", Value: nil}, {Key: "", Value: 3}},
			`{"z":1,"a":null,"":3}`},
		{"repeated key: first place, last value", toInt, JSONOptions{},
			entries{{Key: "a", Value: 1}, {Key: "b", Value: 2}, {Key: "a", Value: 3}}, `{"a":3,"b":2}`},
		{"keys that decode alike", toInt, JSONOptions{}, entries{{Key: "\x80", Value: 1}, {Key: "\xFF", Value: 2}}, "{\"\uFFFD\":2}"},
		{"escaped key", toInt, JSONOptions{}, entries{{Key: "a\"\U0001F600", Value: 1}}, `{"a\"\uD83D\uDE00":1}`},
		{"null key dropped", toInt, JSONOptions{NullKeys: NullKeyDrop}, entries{{Value: 1}, {Key: "a", Value: 2}}, `{"a":2}`},
		{"only null keys", toInt, JSONOptions{NullKeys: NullKeyDrop}, entries{{Value: 1}}, `{}`},
		{"literal", toInt, JSONOptions{NullKeys: NullKeyLiteral, NullKeyLiteral: "n\"l"}, entries{{Key: "a", Value: 2}, {Value: 1}},
			`{"a":2,"n\"l":1}`},
		{"literal collides", toInt, JSONOptions{NullKeys: NullKeyLiteral, NullKeyLiteral: "lit"},
			entries{{Key: "lit", Value: 1}, {Key: "a", Value: 2}, {Value: 3}}, `{"lit":3,"a":2}`},
		{"map in map", toMap, JSONOptions{}, entries{{Key: "a", Value: entries{{Key: "x", Value: 1}, {Key: "x", Value: 2}}},
			{Key: "b", Value: entries{{Key: "a", Value: 3}}}, {Key: "c"}}, `{"a":{"x":2},"b":{"a":3},"c":null}`},
		{"multiset", of(columnar.Multiset, text), JSONOptions{}, entries{{Key: "a", Value: 1}, {Key: "b", Value: nil}, {Key: "a", Value: 3}},
			`{"a":3,"b":null}`},
	} {
		if got := encodeOne(t, c.typ, c.opts, c.value); got != c.want {
			t.Errorf("%s: got %s, want %s", c.name, got, c.want)
		}
	}
}

// Repeated keys of large maps go through the hash table.
func TestLargeMap(t *testing.T) {
	typ := of(columnar.Map, of(columnar.VarChar), of(columnar.Map, of(columnar.VarChar), of(columnar.Integer)))
	const n = 500
	var in, inner entries
	var want []string
	var innerWant []string
	for i := range n {
		inner = append(inner, columnar.Entry{Key: fmt.Sprint("i", i%n/2), Value: i})
	}
	for i := range n / 2 {
		innerWant = append(innerWant, fmt.Sprintf(`"i%d":%d`, i, 2*i+1))
	}
	for i := range n {
		in = append(in, columnar.Entry{Key: fmt.Sprint("k", i%20), Value: inner})
	}
	for i := range 20 {
		want = append(want, fmt.Sprintf(`"k%d":{%s}`, i, strings.Join(innerWant, ",")))
	}
	if got := encodeOne(t, typ, JSONOptions{}, in); got != "{"+strings.Join(want, ",")+"}" {
		t.Errorf("got %.300s", got)
	}
}

func TestNullKeyFails(t *testing.T) {
	typ := row("g", row("tags", of(columnar.Map, of(columnar.VarChar), of(columnar.Integer))))
	_, err := encodeRows(t, typ, JSONOptions{}, []any{[]any{entries{{Key: "a"}}}}, []any{[]any{entries{{Value: 1}}}})
	want := "row 1: fail to serialize at field: g.tags. JSON format doesn't support to serialize map data with null keys. " +
		"You can drop null key entries or encode null in literals by setting 'json.map-null-key.mode' to 'DROP' or 'LITERAL'."
	var rowErr *RowError
	if !errors.As(err, &rowErr) || err.Error() != want {
		t.Errorf("got %v", err)
	}
}

// What Flink 2.2.1 writes when a key with a ROW value repeats, with null fields left out: the rows are merged, and a field
// stands where a row first had it.
// Flink converts a value before a later entry with the same key replaces it: a null key in the value that nobody will see
// fails the row all the same.
func TestErrorInReplacedValueFails(t *testing.T) {
	text, integer := of(columnar.VarChar), of(columnar.Integer)
	typ := of(columnar.Map, text, of(columnar.Map, text, integer))
	value := entries{{Key: "a", Value: entries{{Value: 1}}}, {Key: "a", Value: entries{{Key: "x", Value: 2}}}}
	var rowErr *RowError
	if _, err := encodeRows(t, row("f", typ), JSONOptions{}, []any{value}); !errors.As(err, &rowErr) {
		t.Errorf("error = %v, want a RowError for the null key in the replaced value", err)
	}
	if got := encodeOne(t, typ, JSONOptions{NullKeys: NullKeyDrop}, value); got != `{"a":{"x":2}}` {
		t.Errorf("with DROP: got %s", got)
	}
}

func TestMergedRows(t *testing.T) {
	integer, text := of(columnar.Integer), of(columnar.VarChar)
	inner := row("x", integer, "y", integer)
	typ := of(columnar.Map, text, row("a", integer, "r", inner, "m", of(columnar.Map, text, inner), "b", integer))
	r1 := []any{nil, []any{nil, 1}, nil, 5}
	r2 := []any{7, []any{2, nil}, entries{{Key: "q", Value: []any{nil, 1}}, {Key: "q", Value: []any{2, nil}}}, nil}
	r3 := []any{nil, nil, entries{{Key: "q", Value: []any{9, nil}}}, 8}
	for _, c := range []struct {
		name string
		in   entries
		want string
	}{
		{"two", entries{{Key: "k", Value: r1}, {Key: "z", Value: r2}, {Key: "k", Value: r2}},
			`{"k":{"r":{"y":1,"x":2},"b":5,"a":7,"m":{"q":{"y":1,"x":2}}},"z":{"a":7,"r":{"x":2},"m":{"q":{"y":1,"x":2}}}}`},
		{"three", entries{{Key: "k", Value: r1}, {Key: "k", Value: r2}, {Key: "k", Value: r3}},
			`{"k":{"r":{"y":1,"x":2},"b":8,"a":7,"m":{"q":{"x":9}}}}`},
		{"null between", entries{{Key: "k", Value: r1}, {Key: "k"}, {Key: "k", Value: r2}},
			`{"k":{"a":7,"r":{"x":2},"m":{"q":{"y":1,"x":2}}}}`},
		{"null last", entries{{Key: "k", Value: r1}, {Key: "k"}}, `{"k":null}`},
		{"literal", entries{{Key: "lit", Value: r1}, {Key: "z"}, {Value: r2}},
			`{"lit":{"r":{"y":1,"x":2},"b":5,"a":7,"m":{"q":{"y":1,"x":2}}},"z":null}`},
	} {
		opts := JSONOptions{IgnoreNullFields: true, NullKeys: NullKeyLiteral, NullKeyLiteral: "lit"}
		if got := encodeOne(t, typ, opts, c.in); got != c.want {
			t.Errorf("%s: got %s\nwant %s", c.name, got, c.want)
		}
	}
	kept := encodeOne(t, typ, JSONOptions{}, entries{{Key: "k", Value: r1}, {Key: "k", Value: r3}})
	if want := `{"k":{"a":null,"r":null,"m":{"q":{"x":9,"y":null}},"b":8}}`; kept != want {
		t.Errorf("with nulls kept: got %s, want %s", kept, want)
	}
}
