package ipc

import (
	"bytes"
	"errors"
	"math/big"
	"os"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	arrowipc "github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"penstock.dev/penstock/columnar"
)

// column is one column of the test's batch: what goes in, and what arrow-go says of its type and of its three rows.
type column struct {
	t      *columnar.Type
	values [3]any
	arrow  string
	read   [3]string
}

func of(k columnar.Kind, children ...*columnar.Type) *columnar.Type {
	return &columnar.Type{Kind: k, Nullable: true, Children: children, Precision: 3, Scale: 1}
}

func rowOf(children ...*columnar.Type) *columnar.Type {
	t := of(columnar.Row, children...)
	for i := range children {
		t.FieldNames = append(t.FieldNames, string(rune('a'+i)))
	}
	return t
}

const null = array.NullValueStr

func columns() []column {
	text := of(columnar.VarChar)
	moment := columnar.TimestampValue{Millis: 5, Nanos: 6}
	return []column{
		{of(columnar.Boolean), [3]any{true, nil, false}, "bool", [3]string{"true", null, "false"}},
		{of(columnar.TinyInt), [3]any{int64(-1), nil, int64(2)}, "int8", [3]string{"-1", null, "2"}},
		{of(columnar.SmallInt), [3]any{int64(-1), nil, int64(2)}, "int16", [3]string{"-1", null, "2"}},
		{of(columnar.Integer), [3]any{int64(-1), nil, int64(2)}, "int32", [3]string{"-1", null, "2"}},
		{of(columnar.BigInt), [3]any{int64(-1), nil, int64(2)}, "int64", [3]string{"-1", null, "2"}},
		{of(columnar.Float), [3]any{float32(1.5), nil, float32(0)}, "float32", [3]string{"1.5", null, "0"}},
		{of(columnar.Double), [3]any{2.5, nil, 0.0}, "float64", [3]string{"2.5", null, "0"}},
		{of(columnar.Decimal), [3]any{big.NewInt(123), nil, big.NewInt(-5)}, "decimal(3, 1)", [3]string{"12.3", null, "-0.5"}},
		{of(columnar.Char), [3]any{"c", nil, ""}, "utf8", [3]string{"c", null, ""}},
		{text, [3]any{"väl", nil, ""}, "utf8", [3]string{"väl", null, ""}},
		{of(columnar.Binary), [3]any{"\x01", nil, ""}, "binary", [3]string{"AQ==", null, ""}},
		{of(columnar.VarBinary), [3]any{"\x01", nil, ""}, "binary", [3]string{"AQ==", null, ""}},
		{of(columnar.Date), [3]any{int64(1), nil, int64(0)}, "date32", [3]string{"1970-01-02", null, "1970-01-01"}},
		{of(columnar.Time), [3]any{int64(1001), nil, int64(0)}, "time32[ms]", [3]string{"00:00:01.001", null, "00:00:00.000"}},
		{of(columnar.Timestamp), [3]any{moment, nil, moment}, "struct<millis: int64 nullable, nanos: int32 nullable>",
			[3]string{`{"millis":5,"nanos":6}`, null, `{"millis":5,"nanos":6}`}},
		{of(columnar.TimestampLTZ), [3]any{moment, nil, moment}, "struct<millis: int64 nullable, nanos: int32 nullable>",
			[3]string{`{"millis":5,"nanos":6}`, null, `{"millis":5,"nanos":6}`}},
		{of(columnar.IntervalYearMonth), [3]any{int64(13), nil, int64(0)}, "int32", [3]string{"13", null, "0"}},
		{of(columnar.IntervalDayTime), [3]any{int64(-9), nil, int64(0)}, "int64", [3]string{"-9", null, "0"}},
		{of(columnar.Array, of(columnar.Array, text)), [3]any{[]any{[]any{"a", nil}, nil}, nil, []any{}},
			"list<element: list<element: utf8, nullable>, nullable>", [3]string{`[["a",null],null]`, null, "[]"}},
		{of(columnar.Map, text, of(columnar.BigInt)), [3]any{[]columnar.Entry{{Key: "k", Value: int64(1)}, {}}, nil, []columnar.Entry{}},
			"list<entries: struct<key: utf8 nullable, value: int64 nullable>, nullable>",
			[3]string{`[{"key":"k","value":1},{"key":null,"value":null}]`, null, "[]"}},
		{of(columnar.Multiset, text), [3]any{[]columnar.Entry{{Key: "m", Value: int64(2)}}, nil, []columnar.Entry{}},
			"list<entries: struct<key: utf8 nullable, value: int32 nullable>, nullable>", [3]string{`[{"key":"m","value":2}]`, null, "[]"}},
		{rowOf(of(columnar.Integer), rowOf(text)), [3]any{[]any{int64(7), []any{"x"}}, nil, []any{nil, nil}},
			"struct<a: int32 nullable, b: struct<a: utf8 nullable> nullable>", [3]string{`{"a":7,"b":{"a":"x"}}`, null, `{"a":null,"b":null}`}},
		{of(columnar.Null), [3]any{nil, nil, nil}, "null", [3]string{null, null, null}},
	}
}

func batchOf(t *columnar.Type, rows [3][]any, kinds [3]byte) []byte {
	b := columnar.NewBuilder(t)
	for i, values := range rows {
		b.Append(kinds[i], values...)
	}
	return b.Finish(7)
}

// stream is a schema and the same batch twice, the second time with spare bytes behind it.
func stream(t *testing.T, row *columnar.Type, body []byte) []byte {
	t.Helper()
	out, err := Schema(row)
	if err != nil {
		t.Fatal(err)
	}
	for _, spare := range []int{0, 64} {
		message, err := Batch(body, int64(len(body)+spare))
		if err != nil {
			t.Fatal(err)
		}
		if len(message)%Align != 0 || len(out)%Align != 0 {
			t.Errorf("a message of %d bytes at %d", len(message), len(out))
		}
		out = append(append(append(out, message...), body...), make([]byte, spare)...)
	}
	return append(out, EndOfStream...)
}

// arrow-go reads every type and value, as it reads a file of anybody else.
func TestArrowReadsTheStream(t *testing.T) {
	all := columns()
	row := of(columnar.Row)
	var rows [3][]any
	for i, c := range all {
		row.Children = append(row.Children, c.t)
		row.FieldNames = append(row.FieldNames, c.t.Kind.String()+string(rune('A'+i)))
		for j := range rows {
			rows[j] = append(rows[j], c.values[j])
		}
	}
	for name, kinds := range map[string][3]byte{"inserts": {}, "changes": {0, 1, 3}} {
		t.Run(name, func(t *testing.T) {
			allocator := memory.NewCheckedAllocator(memory.DefaultAllocator)
			defer allocator.AssertSize(t, 0)
			r, err := arrowipc.NewReader(bytes.NewReader(stream(t, row, batchOf(row, rows, kinds))), arrowipc.WithAllocator(allocator))
			if err != nil {
				t.Fatal(err)
			}
			defer r.Release()
			batches := 0
			for r.Next() {
				batches++
				requireColumns(t, row, all, r.RecordBatch())
			}
			if r.Err() != nil || batches != 2 {
				t.Errorf("%d batches, %v", batches, r.Err())
			}
		})
	}
}

func requireColumns(t *testing.T, row *columnar.Type, want []column, got arrow.RecordBatch) {
	t.Helper()
	if got.NumRows() != 3 || got.NumCols() != int64(len(want)) {
		t.Fatalf("%d rows of %d columns", got.NumRows(), got.NumCols())
	}
	for i, c := range want {
		a := got.Column(i)
		if got.ColumnName(i) != row.FieldNames[i] || a.DataType().String() != c.arrow || !got.Schema().Field(i).Nullable {
			t.Errorf("column %q of %v is %q of %s, want %s", row.FieldNames[i], c.t.Kind, got.ColumnName(i), a.DataType(), c.arrow)
		}
		if v, ok := a.(interface{ ValidateFull() error }); ok {
			if err := v.ValidateFull(); err != nil {
				t.Errorf("%v: %v", c.t.Kind, err)
			}
		}
		for j := range 3 {
			if text := a.ValueStr(j); text != c.read[j] {
				t.Errorf("%v, row %d: arrow-go reads %s, want %s", c.t.Kind, j, text, c.read[j])
			}
		}
	}
}

func TestBatchRefusesWhatIsNoBatch(t *testing.T) {
	row := rowOf(of(columnar.VarChar))
	good := batchOf(row, [3][]any{{"a"}, {"b"}, {"c"}}, [3]byte{})
	for name, c := range map[string]struct {
		change func(b []byte)
		bytes  int64
	}{
		"fewer bytes than the batch": {func([]byte) {}, 64},
		"not padded":                 {func([]byte) {}, int64(len(good)) + 1},
		"too many nodes":             {func(b []byte) { b[offNodeCount+3] = 0xff }, int64(len(good))},
		"too many buffers":           {func(b []byte) { b[offBufferCount+3] = 0xff }, int64(len(good))},
		"no buffer":                  {func(b []byte) { b[offBufferCount] = 0 }, int64(len(good))},
		"buffer outside":             {func(b []byte) { b[batchHeaderBytes+16+3*16+8+7] = 0x7f }, int64(len(good))},
		"negative length":            {func(b []byte) { b[batchHeaderBytes+16+3*16+15] = 0xff }, int64(len(good))},
	} {
		body := bytes.Clone(good)
		c.change(body)
		if _, err := Batch(body, c.bytes); !errors.Is(err, columnar.ErrMalformed) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := Batch(good[:63], 64); !errors.Is(err, columnar.ErrMalformed) {
		t.Errorf("short: %v", err)
	}
	if _, err := Schema(of(columnar.VarChar)); !errors.Is(err, columnar.ErrType) {
		t.Errorf("a schema of a VARCHAR: %v", err)
	}
	if _, err := Schema(rowOf(of(columnar.Invalid))); !errors.Is(err, columnar.ErrType) {
		t.Errorf("a schema of nothing: %v", err)
	}
}

func TestConstantsEqualGolden(t *testing.T) {
	text, err := os.ReadFile("../../shm/testdata/layout.golden")
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{"batch.header_bytes=64\n", "batch.off.row_count=8\n", "batch.off.node_count=12\n",
		"batch.off.buffer_count=16\n", "batch.node_bytes=16\n", "batch.buffer_bytes=16\n"} {
		if !strings.Contains(string(text), line) {
			t.Errorf("the golden file has no line %q", line)
		}
	}
}

func FuzzBatch(f *testing.F) {
	f.Add(batchOf(rowOf(of(columnar.VarChar)), [3][]any{{"a"}, {nil}, {"c"}}, [3]byte{0, 1, 2}))
	f.Fuzz(func(t *testing.T, body []byte) {
		size := int64(alignUp(len(body)))
		if message, err := Batch(body, size); err == nil && len(message)%Align != 0 {
			t.Errorf("%d bytes", len(message))
		}
	})
}
