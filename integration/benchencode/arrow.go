package main

import (
	"encoding/binary"
	"fmt"
	"io"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/csv"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"penstock.dev/penstock/columnar"
)

// arrowWriters are arrow-go's own writers, by format. Their bytes are not Flink's.
var arrowWriters = map[string]func(arrow.RecordBatch) error{
	"json": func(r arrow.RecordBatch) error { return array.RecordToJSON(r, io.Discard) },
	"csv": func(r arrow.RecordBatch) error {
		w := csv.NewWriter(io.Discard, r.Schema())
		if err := w.Write(r); err != nil {
			return err
		}
		return w.Flush()
	},
}

// arrowRecord copies a batch of columns that bids have into arrow-go's own memory.
func arrowRecord(row *columnar.Type, batch *columnar.Batch) (arrow.RecordBatch, error) {
	var fields []arrow.Field
	for i, t := range row.Children {
		field := arrow.Field{Name: row.FieldNames[i], Nullable: true}
		switch t.Kind {
		case columnar.BigInt:
			field.Type = arrow.PrimitiveTypes.Int64
		case columnar.VarChar:
			field.Type = arrow.BinaryTypes.String
		case columnar.Timestamp:
			field.Type = &arrow.TimestampType{Unit: arrow.Millisecond}
		default:
			return nil, fmt.Errorf("column %q: no arrow column for %v", field.Name, t.Kind)
		}
		fields = append(fields, field)
	}
	b := array.NewRecordBuilder(memory.DefaultAllocator, arrow.NewSchema(fields, nil))
	defer b.Release()
	for i := range fields {
		appendColumn(b.Field(i), &batch.Columns[i], batch.Rows)
	}
	return b.NewRecordBatch(), nil
}

func appendColumn(to array.Builder, from *columnar.Vector, rows int) {
	for i := range rows {
		switch to := to.(type) {
		case *array.Int64Builder:
			to.Append(int64(binary.LittleEndian.Uint64(from.Values[8*i:])))
		case *array.TimestampBuilder:
			to.Append(arrow.Timestamp(binary.LittleEndian.Uint64(from.Children[0].Values[8*i:])))
		case *array.StringBuilder:
			bounds := from.Offsets[4*i:]
			to.Append(string(from.Values[binary.LittleEndian.Uint32(bounds):binary.LittleEndian.Uint32(bounds[4:])]))
		}
	}
}
