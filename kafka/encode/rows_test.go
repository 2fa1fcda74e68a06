package encode

import (
	"math/big"
	"strings"

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

// flatTypes has a column of every kind that csv accepts, with the nesting that it accepts.
func flatTypes() *columnar.Type {
	text, at := of(columnar.VarChar), of(columnar.Timestamp)
	return row("bo", of(columnar.Boolean), "i8", of(columnar.TinyInt), "i16", of(columnar.SmallInt), "i32", of(columnar.Integer),
		"i64", of(columnar.BigInt), "f", of(columnar.Float), "d", of(columnar.Double), "de", decimalType(38, 10), "s", text,
		"b", of(columnar.VarBinary), "da", of(columnar.Date), "tm", of(columnar.Time), "ts", at, "lz", of(columnar.TimestampLTZ),
		"n", of(columnar.Null), "a", of(columnar.Array, text), "r", row("x", of(columnar.Integer), "s", text, "t", at))
}

func flatRows(n int) [][]any {
	var rows [][]any
	for i := range n {
		v := allValues(int64(i))
		text := v[8]
		rows = append(rows, append(v[:14:14], nil, []any{text, nil, text}, []any{i, text, v[12]}))
	}
	return append(rows, make([]any, 17))
}

// avroTypes has a column of every kind that avro accepts, with the nesting that it accepts.
func avroTypes() *columnar.Type {
	text, integer, ts := of(columnar.VarChar), of(columnar.Integer), of(columnar.Timestamp)
	inner := row("x", integer, "s", text, "t", ts)
	return row("bo", of(columnar.Boolean), "i8", of(columnar.TinyInt), "i16", of(columnar.SmallInt), "i32", integer,
		"i64", notNull(of(columnar.BigInt)), "f", of(columnar.Float), "d", of(columnar.Double), "de", decimalType(38, 10), "s", text,
		"b", of(columnar.VarBinary), "da", of(columnar.Date), "tm", of(columnar.Time), "ts", ts, "lz", of(columnar.TimestampLTZ),
		"a", of(columnar.Array, inner), "m", of(columnar.Map, text, inner), "ms", of(columnar.Multiset, text),
		"mm", of(columnar.Map, text, of(columnar.Map, text, integer)), "r", inner)
}

func avroRows(n int) [][]any {
	var rows [][]any
	for i := range n {
		v := allValues(int64(i))
		var inner entries
		for k := range 20 * i {
			inner = append(inner, columnar.Entry{Key: strings.Repeat("\xFFk", k%7), Value: k})
		}
		rows = append(rows, append(v[:17:17], entries{{Key: "a", Value: inner}, {Key: "b", Value: inner}, {Key: "a", Value: inner}}, v[18]))
	}
	empty := make([]any, 19)
	empty[4] = 1
	return append(rows, empty)
}
