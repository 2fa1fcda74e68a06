package protoplan

import (
	"fmt"

	"penstock.dev/penstock/columnar"
	"penstock.dev/penstock/kafka/encode"
	pb "penstock.dev/penstock/proto/gen/penstock/v1"
)

// RecordPlan compiles the formats and the shape of a writer for rows of type row, which Type makes of the same message. dialect
// is as in Plan.
func RecordPlan(row *columnar.Type, open *pb.OpenWriter, dialect encode.Dialect) (*encode.RecordPlan, error) {
	shape := open.GetShape()
	if shape == nil {
		plan, err := Plan(row, open.GetValueFormat(), dialect)
		if err != nil {
			return nil, err
		}
		return encode.WholeRows(plan), nil
	}
	if shape.GetUpsert() && open.GetValueFormat().GetAvro().GetDebezium() {
		return nil, fmt.Errorf("'upsert-kafka' connector doesn't support 'debezium-avro-confluent' as value format, because " +
			"'debezium-avro-confluent' is not in insert-only mode: use another 'value.format'")
	}
	s := encode.Shape{
		Upsert:    shape.GetUpsert(),
		Timestamp: column(shape.TimestampColumn),
		Headers:   column(shape.HeadersColumn),
		Topic:     column(shape.TopicColumn),
		Topics:    shape.GetTopics(),
	}
	value, err := part(row, "value", open.GetValueFormat(), columns(shape.GetValueColumns()), nil, dialect)
	if err != nil {
		return nil, err
	}
	s.Value = *value
	if shape.GetKeyFormat() != nil {
		// Not nil: without a name for each column the key cannot be compiled.
		names := append([]string{}, shape.GetKeyNames()...)
		if s.Key, err = part(row, "key", shape.GetKeyFormat(), columns(shape.GetKeyColumns()), names, dialect); err != nil {
			return nil, err
		}
	} else if len(shape.GetKeyColumns()) != 0 {
		return nil, fmt.Errorf("shape.key_columns without shape.key_format: set 'key.format'")
	}
	return encode.CompileRecords(row, s)
}

// part compiles the key or the value: a row of some columns of row, whose fields are called names, or as they are in row.
func part(row *columnar.Type, what string, f *pb.Format, columns []int, names []string, dialect encode.Dialect) (*encode.Part, error) {
	projected, err := encode.Project(row, columns, names)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", what, err)
	}
	plan, err := Plan(projected, f, dialect)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", what, err)
	}
	return &encode.Part{Plan: plan, Columns: columns}, nil
}

// column is an optional index. int has 64 bits on every platform that the daemon runs on.
func column(index *uint32) int {
	if index == nil {
		return encode.NoColumn
	}
	return int(*index)
}

func columns(indices []uint32) []int {
	out := make([]int, len(indices))
	for i, c := range indices {
		out[i] = int(c)
	}
	return out
}
