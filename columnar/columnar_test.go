package columnar

import (
	"errors"
	"math"
	"math/big"
	"os"
	"strconv"
	"strings"
	"testing"
)

func rowType(fields ...*Type) *Type {
	t := &Type{Kind: Row, Children: fields}
	for i := range fields {
		t.FieldNames = append(t.FieldNames, "f"+strconv.Itoa(i))
	}
	return t
}

func of(k Kind, children ...*Type) *Type {
	t := &Type{Kind: k, Nullable: true, Children: children}
	switch k {
	case Decimal:
		t.Precision, t.Scale = 20, 3
	case Timestamp, TimestampLTZ, Time:
		t.Precision = 3
	}
	return t
}

// everyType has one field of each kind, and nested ones.
func everyType() *Type {
	return rowType(
		of(Boolean), of(TinyInt), of(SmallInt), of(Integer), of(BigInt), of(Float), of(Double), of(Decimal),
		of(Char), of(VarChar), of(Binary), of(VarBinary), of(Date), of(Time), of(Timestamp), of(TimestampLTZ),
		of(IntervalYearMonth), of(IntervalDayTime), of(Array, of(Array, of(VarChar))),
		of(Map, of(VarChar), of(BigInt)), of(Multiset, of(VarChar)),
		rowType(of(Integer), rowType(of(VarChar), of(Boolean))), of(Null))
}

// everyRows are rows of everyType; the third is all null.
func everyRows() [][]any {
	nulls := make([]any, 23)
	minDecimal := new(big.Int).Neg(new(big.Int).Exp(big.NewInt(10), big.NewInt(19), nil))
	return [][]any{
		{true, int64(-128), int64(math.MaxInt16), int64(math.MinInt32), int64(math.MinInt64), float32(1.5), math.Inf(-1),
			minDecimal, "c", "väl", "\x00\xff", []byte{1, 2}, int64(-1), int64(86399999),
			TimestampValue{-1, 999999}, TimestampValue{1, 1}, int64(13), int64(-5),
			[]any{[]any{"a", nil}, nil, []any{}}, []Entry{{"k", int64(1)}, {"k", nil}, {nil, int64(3)}},
			[]Entry{{"m", int64(2)}}, []any{int64(7), []any{"x", true}}, nil},
		{false, int64(127), int64(0), int64(1), int64(2), float32(0), 0.0, big.NewInt(0), "", "", "", "", int64(0), int64(0),
			TimestampValue{}, TimestampValue{}, int64(0), int64(0), []any{}, []Entry{}, []Entry{}, []any{nil, nil}, nil},
		nulls,
		{nil, int64(1), nil, int64(1), nil, float32(2), nil, big.NewInt(5), nil, "v", nil, "b", nil, int64(1), nil,
			TimestampValue{5, 6}, nil, int64(9), nil, []Entry{}, nil, []any{int64(1), nil}, nil},
	}
}

func everyBatch() []byte {
	b := NewBuilder(everyType())
	for i, r := range everyRows() {
		b.Append(byte(i%4), r...)
	}
	return b.Finish(7)
}

func TestConstantsEqualGolden(t *testing.T) {
	text, err := os.ReadFile("../shm/testdata/layout.golden")
	if err != nil {
		t.Fatal(err)
	}
	golden := map[string]string{}
	for line := range strings.Lines(string(text)) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		golden[name] = value
	}
	ours := map[string]uint64{
		"batch.magic": batchMagic, "batch.version": batchVersion, "batch.header_bytes": batchHeaderBytes,
		"batch.align": batchAlign, "batch.off.magic": offMagic, "batch.off.version": offVersion,
		"batch.off.flags": offFlags, "batch.off.row_count": offRowCount, "batch.off.node_count": offNodeCount,
		"batch.off.buffer_count": offBufferCount, "batch.off.schema_tag": offSchemaTag,
		"batch.off.body_bytes": offBodyBytes, "batch.flag.all_insert": flagAllInsert,
		"batch.node_bytes": nodeBytes, "batch.buffer_bytes": bufferBytes,
	}
	for name := range golden {
		if _, ok := ours[name]; strings.HasPrefix(name, "batch.") && !ok {
			t.Errorf("%s is in the golden file and unknown here", name)
		}
	}
	for name, value := range ours {
		want, err := strconv.ParseUint(golden[name], 0, 64)
		if err != nil || want != value {
			t.Errorf("%s = %#x, golden file says %q", name, value, golden[name])
		}
	}
}

func TestEveryType(t *testing.T) {
	row := everyType()
	batch, err := Parse(everyBatch(), row, 7)
	if err != nil {
		t.Fatal(err)
	}
	rows := everyRows()
	if batch.Rows != len(rows) || len(batch.Columns) != len(row.Children) {
		t.Fatalf("%d rows, %d columns", batch.Rows, len(batch.Columns))
	}
	for i, want := range rows {
		if batch.Kinds[i] != byte(i%4) {
			t.Errorf("row %d has kind %d", i, batch.Kinds[i])
		}
		for j := range batch.Columns {
			if got := cell(&batch.Columns[j], i); !sameCell(got, want[j]) {
				t.Errorf("row %d, %v: got %#v, want %#v", i, row.Children[j].Kind, got, want[j])
			}
		}
	}
}

func TestAllInsertLeavesKindsOut(t *testing.T) {
	b := NewBuilder(rowType(of(BigInt)))
	b.Append(0, int64(1))
	b.Append(0, 2)
	batch, err := Parse(b.Finish(1), rowType(of(BigInt)), 1)
	if err != nil || batch.Kinds != nil || batch.Rows != 2 {
		t.Fatalf("%v, kinds %v, rows %d", err, batch.Kinds, batch.Rows)
	}
	if b.Rows() != 0 {
		t.Errorf("builder still has %d rows after Finish", b.Rows())
	}
}

func TestEmptyBatch(t *testing.T) {
	batch, err := Parse(NewBuilder(everyType()).Finish(1), everyType(), 1)
	if err != nil || batch.Rows != 0 {
		t.Fatalf("%v, rows %d", err, batch.Rows)
	}
}

func TestParserReusesMemory(t *testing.T) {
	body := everyBatch()
	p := NewParser(everyType())
	if n := testing.AllocsPerRun(100, func() {
		if _, err := p.Parse(body, 7); err != nil {
			t.Fatal(err)
		}
	}); n != 0 {
		t.Errorf("%v allocations per batch", n)
	}
}

// A client that scribbles on a batch after the check must not move what the check proved.
func TestScribblingAfterParseStaysInBounds(t *testing.T) {
	body := everyBatch()
	batch, err := Parse(body, everyType(), 7)
	if err != nil {
		t.Fatal(err)
	}
	for i := range body {
		body[i] = 0xff
	}
	walk(&batch)
}

func TestTypeCheck(t *testing.T) {
	deep := of(Integer)
	for range maxDepth + 1 {
		deep = of(Array, deep)
	}
	for name, bad := range map[string]*Type{
		"kind":      of(Kind(99)),
		"invalid":   of(Invalid),
		"children":  of(Map, of(Integer)),
		"leaf":      of(Integer, of(Integer)),
		"precision": {Kind: Decimal, Precision: 39},
		"scale":     {Kind: Decimal, Precision: 3, Scale: 4},
		"time":      {Kind: Timestamp, Precision: 10},
		"names":     {Kind: Row, Children: []*Type{of(Integer)}},
		"missing":   rowType(nil),
		"deep":      deep,
	} {
		if err := bad.Check(); !errors.Is(err, ErrType) {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := NewParser(rowType(bad)).Parse(nil, 0); !errors.Is(err, ErrType) {
			t.Errorf("%s: parser says %v", name, err)
		}
	}
	if _, err := NewParser(of(Integer)).Parse(nil, 0); !errors.Is(err, ErrType) {
		t.Errorf("a batch of INTEGER: %v", err)
	}
}

func TestBuilderRefusesWrongValues(t *testing.T) {
	for name, appendBad := range map[string]func(){
		"type":    func() { NewBuilder(rowType(of(Integer))).Append(0, "x") },
		"range":   func() { NewBuilder(rowType(of(TinyInt))).Append(0, 128) },
		"count":   func() { NewBuilder(rowType(of(TinyInt))).Append(0) },
		"decimal": func() { NewBuilder(rowType(of(Decimal))).Append(0, new(big.Int).Lsh(big.NewInt(1), 127)) },
		"fields":  func() { NewBuilder(rowType(rowType(of(TinyInt)))).Append(0, []any{}) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: accepted", name)
				}
			}()
			appendBad()
		}()
	}
}
