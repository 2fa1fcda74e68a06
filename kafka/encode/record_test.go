package encode

import (
	"fmt"
	"strings"
	"testing"

	"penstock.dev/penstock/columnar"
)

// orderType is a table with everything that a record can have: k1, v, k2 and the metadata at, headers and topic.
func orderType() *columnar.Type {
	at := of(columnar.TimestampLTZ)
	at.Precision = 3
	return row("k1", of(columnar.VarChar), "v", notNull(of(columnar.Integer)), "k2", notNull(of(columnar.Integer)), "at", at,
		"headers", of(columnar.Map, of(columnar.VarChar), of(columnar.VarBinary)), "topic", of(columnar.VarChar))
}

func millis(t int64) columnar.TimestampValue { return columnar.TimestampValue{Millis: t} }

// orders has one row for each case that metadata knows.
func orders() [][]any {
	return [][]any{
		{"a", 1, 10, millis(5), []columnar.Entry{{Key: "h", Value: "1"}, {Key: "h", Value: "2"}}, "x"},
		{nil, 2, 20, nil, nil, "y"},
		{"c", 3, 30, millis(0), []columnar.Entry{{Key: nil, Value: "dropped"}, {Key: "n", Value: nil}, {Key: "", Value: ""}}, "x"},
		{"d", 4, 40, columnar.TimestampValue{Millis: 7, Nanos: 999_999}, []columnar.Entry{}, "y"},
	}
}

// mustPart compiles a part of typ by compile.
func mustPart(tb testing.TB, typ *columnar.Type, names []string, compile func(*columnar.Type) (*Plan, error), columns ...int) *Part {
	tb.Helper()
	projected, err := Project(typ, columns, names)
	if err != nil {
		tb.Fatal(err)
	}
	plan, err := compile(projected)
	if err != nil {
		tb.Fatal(err)
	}
	return &Part{Plan: plan, Columns: columns}
}

func asJSON(t *columnar.Type) (*Plan, error) {
	return CompileJSON(t, JSONOptions{Floats: FloatsLegacy})
}
func asCSV(t *columnar.Type) (*Plan, error) { return CompileCSV(t, CSVOptions{Floats: FloatsLegacy}) }
func asRaw(t *columnar.Type) (*Plan, error) { return CompileRaw(t, RawOptions{}) }
func asDebezium(t *columnar.Type) (*Plan, error) {
	return CompileChangelog(EnvelopeDebezium, t, JSONOptions{Floats: FloatsLegacy})
}

// orderShape has every part; the key is written as csv.
func orderShape(tb testing.TB) Shape {
	typ := orderType()
	return Shape{
		Key:       mustPart(tb, typ, []string{"second", "first"}, asCSV, 2, 0),
		Value:     *mustPart(tb, typ, nil, asJSON, 1, 0),
		Timestamp: 3, Headers: 4, Topic: 5,
	}
}

func mustRecords(tb testing.TB, typ *columnar.Type, s Shape) *RecordEncoder {
	tb.Helper()
	p, err := CompileRecords(typ, s)
	if err != nil {
		tb.Fatal(err)
	}
	return NewRecordEncoder(p)
}

// buildKinds is build with the row kinds 0 to 3 in turn.
func buildKinds(tb testing.TB, t *columnar.Type, rows ...[]any) *columnar.Batch {
	tb.Helper()
	b := columnar.NewBuilder(t)
	for i, r := range rows {
		b.Append(byte(i%4), r...)
	}
	batch, err := columnar.Parse(b.Finish(1), t, 1)
	if err != nil {
		tb.Fatal(err)
	}
	return &batch
}

// describe spells records, one a line: row, topic, timestamp, key, value and headers.
func describe(r *Records) string {
	var out strings.Builder
	topic := func(i int) string {
		for _, run := range r.Topics {
			if i >= run.First && i < run.End {
				return run.Topic
			}
		}
		return "-"
	}
	text := func(b []byte) string {
		if b == nil {
			return "null"
		}
		return fmt.Sprintf("%q", b)
	}
	for i := range r.Len() {
		at, key := NoTimestamp, []byte(nil)
		if r.Timestamps != nil {
			at = r.Timestamps[i]
		}
		if r.Key != nil {
			key = r.Key.Value(i)
		}
		fmt.Fprintf(&out, "%d %s %d %s %s", r.Row(i), topic(i), at, text(key), text(r.Value.Value(i)))
		if r.Headers != nil {
			from, to := r.Headers.Of(i)
			for k := from; k < to; k++ {
				key, value := r.Headers.Header(k)
				fmt.Fprintf(&out, " %q=%q", key, value)
			}
		}
		out.WriteByte('\n')
	}
	return out.String()
}

func checkRecords(t *testing.T, e *RecordEncoder, b *columnar.Batch, want ...string) {
	t.Helper()
	r, err := e.Encode(b)
	if err != nil {
		t.Fatal(err)
	}
	if got := describe(r); got != strings.Join(want, "\n")+"\n" {
		t.Errorf("got\n%swant\n%s", got, strings.Join(want, "\n"))
	}
}

func TestRecordHasAllParts(t *testing.T) {
	e := mustRecords(t, orderType(), orderShape(t))
	want := []string{
		`0 x 5 "10,a" "{\"v\":1,\"k1\":\"a\"}" "h"="1" "h"="2"`,
		`2 x 0 "30,c" "{\"v\":3,\"k1\":\"c\"}" ""=""`,
		`1 y -1 "20," "{\"v\":2,\"k1\":null}"`,
		`3 y 7 "40,d" "{\"v\":4,\"k1\":\"d\"}"`,
	}
	checkRecords(t, e, build(t, orderType(), orders()...), want...)
	// The memory of one batch does not reach the next.
	checkRecords(t, e, build(t, orderType(), orders()[1]), `0 y -1 "20," "{\"v\":2,\"k1\":null}"`)
	checkRecords(t, e, buildKinds(t, orderType(), orders()...), want...)
	if got := e.plan.Format(); got != "json with key csv" {
		t.Errorf("the format is %q", got)
	}
}

func TestWholeRowsAreTheValuesOfTheirPlan(t *testing.T) {
	typ := row("f", of(columnar.VarChar))
	plan := mustCompileRaw(t, typ, RawOptions{})
	checkRecords(t, NewRecordEncoder(WholeRows(plan)), buildKinds(t, typ, []any{"a"}, []any{nil}, []any{""}),
		`0 - -1 null "a"`, `1 - -1 null null`, `2 - -1 null ""`)
	typ = row("f", notNull(of(columnar.Integer)))
	_, err := NewRecordEncoder(WholeRows(mustCompile(t, typ, JSONOptions{}))).Encode(build(t, typ, []any{1}, []any{nil}))
	if err == nil || !strings.HasPrefix(err.Error(), "row 1: fail to serialize at field: f.") {
		t.Errorf("got %v", err)
	}
}

// A key is an INSERT whatever its row is; the value keeps the kind.
func TestKeyIsAlwaysAnInsert(t *testing.T) {
	typ := row("k", of(columnar.Integer), "v", of(columnar.Integer))
	s := Shape{Key: mustPart(t, typ, nil, asDebezium, 0), Value: *mustPart(t, typ, nil, asDebezium, 1),
		Timestamp: NoColumn, Headers: NoColumn, Topic: NoColumn}
	checkRecords(t, mustRecords(t, typ, s), buildKinds(t, typ, []any{1, 2}, []any{1, 2}),
		`0 - -1 "{\"before\":null,\"after\":{\"k\":1},\"op\":\"c\"}" "{\"before\":null,\"after\":{\"v\":2},\"op\":\"c\"}"`,
		`1 - -1 "{\"before\":null,\"after\":{\"k\":1},\"op\":\"c\"}" "{\"before\":{\"v\":2},\"after\":null,\"op\":\"d\"}"`)
}

func TestUpsertWritesTombstones(t *testing.T) {
	typ := row("k", of(columnar.VarChar), "v", of(columnar.VarChar))
	s := Shape{Key: mustPart(t, typ, nil, asRaw, 0), Upsert: true, Timestamp: NoColumn, Headers: NoColumn, Topic: NoColumn}
	rows := [][]any{{"a", "1"}, {"b", "2"}, {nil, "3"}, {"", "4"}, {"e", nil}}
	for name, c := range map[string]struct {
		compile func(*columnar.Type) (*Plan, error)
		values  [5]string
	}{
		"json": {asJSON, [5]string{`"{\"v\":\"1\"}"`, "null", `"{\"v\":\"3\"}"`, "null", `"{\"v\":null}"`}},
		// A raw NULL cannot be told from a delete, as in Flink.
		"raw": {asRaw, [5]string{`"1"`, "null", `"3"`, "null", "null"}},
		"csv": {asCSV, [5]string{`"1"`, "null", `"3"`, "null", `""`}},
	} {
		t.Run(name, func(t *testing.T) {
			s.Value = *mustPart(t, typ, nil, c.compile, 1)
			checkRecords(t, mustRecords(t, typ, s), buildKinds(t, typ, rows...), `0 - -1 "a" `+c.values[0], `1 - -1 "b" `+c.values[1],
				`2 - -1 null `+c.values[2], `3 - -1 "" `+c.values[3], `4 - -1 "e" `+c.values[4])
		})
	}
}

// A row that a tombstone stands for is not looked at: Flink does not serialize it either.
func TestTombstonesDoNotReadTheirRow(t *testing.T) {
	typ := row("k", of(columnar.Integer), "v", notNull(of(columnar.Integer)))
	s := Shape{Key: mustPart(t, typ, nil, asJSON, 0), Value: *mustPart(t, typ, nil, asJSON, 1), Upsert: true,
		Timestamp: NoColumn, Headers: NoColumn, Topic: NoColumn}
	checkRecords(t, mustRecords(t, typ, s), buildKinds(t, typ, []any{1, 1}, []any{2, nil}),
		`0 - -1 "{\"k\":1}" "{\"v\":1}"`, `1 - -1 "{\"k\":2}" null`)
}

// An upsert table whose columns are all in the key has a value without fields.
func TestValueWithoutFields(t *testing.T) {
	typ := row("k", of(columnar.Integer))
	s := Shape{Key: mustPart(t, typ, nil, asJSON, 0), Value: *mustPart(t, typ, nil, asJSON), Upsert: true,
		Timestamp: NoColumn, Headers: NoColumn, Topic: NoColumn}
	checkRecords(t, mustRecords(t, typ, s), build(t, typ, []any{1}), `0 - -1 "{\"k\":1}" "{}"`)
}

func TestHeaderKeysAreText(t *testing.T) {
	typ := row("v", of(columnar.Integer), "h", of(columnar.Map, notNull(of(columnar.VarChar)), of(columnar.Binary)))
	s := Shape{Value: *mustPart(t, typ, nil, asJSON, 0), Timestamp: NoColumn, Headers: 1, Topic: NoColumn}
	checkRecords(t, mustRecords(t, typ, s), build(t, typ,
		[]any{1, []columnar.Entry{{Key: "é\x00\U0001F600", Value: "\x00\xFF"}, {Key: "\xED\xA0\x80\xFF", Value: "\xED"}}}),
		`0 - -1 null "{\"v\":1}" "é\x00😀"="\x00\xff" "��"="\xed"`)
}

func TestRecordEncoderAllocatesNothing(t *testing.T) {
	e := mustRecords(t, orderType(), orderShape(t))
	b := buildKinds(t, orderType(), orders()...)
	if n := testing.AllocsPerRun(100, func() {
		if _, err := e.Encode(b); err != nil {
			t.Fatal(err)
		}
	}); n != 0 {
		t.Errorf("%v allocations for a batch", n)
	}
}

// Whoever keeps a view of a batch reads memory that the client may have got back.
func TestRecordEncoderKeepsNoView(t *testing.T) {
	e := mustRecords(t, orderType(), orderShape(t))
	for _, rows := range [][][]any{orders(), {{"a", nil, 1, nil, nil, "x"}}} {
		_, _ = e.Encode(buildKinds(t, orderType(), rows...))
		for _, b := range []columnar.Batch{e.value, e.key, e.metadata} {
			if b.Kinds != nil {
				t.Error("row kinds are kept")
			}
			for _, v := range b.Columns[:cap(b.Columns)] {
				if v.Type != nil {
					t.Errorf("a view of %v is kept", v.Type.Kind)
				}
			}
		}
		for _, c := range e.cells {
			if c.validity != nil || c.values != nil || c.offsets != nil || c.length != 0 {
				t.Errorf("a view of column %q is kept", c.path)
			}
		}
	}
}
