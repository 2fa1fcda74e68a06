package encode

import (
	"fmt"
	"strings"

	"penstock.dev/penstock/columnar"
)

// Part is the key or the value of a record: a plan for a row of some columns. See Project for the type that Plan is compiled for.
type Part struct {
	Plan *Plan
	// Columns are indices into the columns of the batch, in the order of Plan's columns.
	Columns []int
}

// NoColumn stands for a column that a Shape does not have.
const NoColumn = -1

// Shape says which part of a row goes into which part of its record, as DynamicKafkaRecordSerializationSchema of the Kafka
// connector does it. Columns are indices into the columns of the batch.
type Shape struct {
	// Key is nil when every key is null. A key is encoded as a row of its own, always an INSERT.
	Key   *Part
	Value Part
	// Upsert makes the value of a DELETE or UPDATE_BEFORE null and encodes every other one as an INSERT.
	Upsert bool
	// Timestamp is a TIMESTAMP_LTZ column, or NoColumn.
	Timestamp int
	// Headers is a MAP<STRING, BYTES> column, or NoColumn.
	Headers int
	// Topic is a STRING column with each row's own topic, or NoColumn.
	Topic int
	// Topics are those that the topic column may name; empty: any.
	Topics []string
}

// RecordPlan is a schema compiled for whole records. It is immutable and safe for concurrent use.
type RecordPlan struct {
	shape Shape
	// whole says that the value is the row as it is, and that the record has nothing else.
	whole bool
	// metadata are the instructions for the columns of metadata, whose indices are in metadataColumns; the index of each
	// among them is in timestamp, headers and topic, or NoColumn.
	metadata                  []node
	metadataColumns           []int
	timestamp, headers, topic int
	topics                    map[string]struct{}
	// topicList is Shape.Topics as Java prints a collection.
	topicList string
}

// WholeRows makes records of plan's values and nothing else.
func WholeRows(plan *Plan) *RecordPlan {
	return &RecordPlan{shape: Shape{Value: Part{Plan: plan}}, whole: true, timestamp: NoColumn, headers: NoColumn, topic: NoColumn}
}

// CompileRecords checks a shape against the type of the rows. Its errors are reasons to fall back to the stock sink.
func CompileRecords(row *columnar.Type, s Shape) (*RecordPlan, error) {
	p := &RecordPlan{shape: s, topicList: "[" + strings.Join(s.Topics, ", ") + "]"}
	if err := checkPart(row, "value", &s.Value); err != nil {
		return nil, err
	}
	if s.Key != nil {
		if err := checkPart(row, "key", s.Key); err != nil {
			return nil, err
		}
	}
	if err := checkUpsert(&s); err != nil {
		return nil, err
	}
	for _, m := range []struct {
		name   string
		column int
		at     *int
		node   func(t *columnar.Type) *node
	}{
		{"timestamp", s.Timestamp, &p.timestamp, timestampNode},
		{"headers", s.Headers, &p.headers, headersNode},
		{"topic", s.Topic, &p.topic, textNode},
	} {
		*m.at = NoColumn
		if m.column == NoColumn {
			continue
		}
		if err := checkColumns(row, []int{m.column}); err != nil {
			return nil, fmt.Errorf("%s: %w", m.name, err)
		}
		n := m.node(row.Children[m.column])
		if n == nil {
			return nil, fmt.Errorf("column %q cannot be the %s of a record: use TIMESTAMP_LTZ(3) for a timestamp, "+
				"MAP<STRING, BYTES> for headers and STRING for a topic", row.FieldNames[m.column], m.name)
		}
		n.path = row.FieldNames[m.column]
		*m.at = len(p.metadata)
		p.metadata = append(p.metadata, *n)
		p.metadataColumns = append(p.metadataColumns, m.column)
	}
	return p, p.compileTopics()
}

// Format names the formats that the plan writes, for logs.
func (p *RecordPlan) Format() string {
	if p.shape.Key == nil {
		return p.shape.Value.Plan.Format()
	}
	return p.shape.Value.Plan.Format() + " with key " + p.shape.Key.Plan.Format()
}

func checkPart(row *columnar.Type, name string, p *Part) error {
	if p.Plan == nil {
		return fmt.Errorf("the %s of the record has no format", name)
	}
	if err := checkColumns(row, p.Columns); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if len(p.Columns) != len(p.Plan.columns) {
		return fmt.Errorf("%s: %d columns for a row of %d fields", name, len(p.Columns), len(p.Plan.columns))
	}
	return nil
}

// checkUpsert holds what the upsert-kafka factory and DynamicKafkaRecordSerializationSchema refuse.
func checkUpsert(s *Shape) error {
	switch {
	case !s.Upsert:
		return nil
	case s.Key == nil || len(s.Key.Columns) == 0:
		return fmt.Errorf("Key must be set in upsert mode for serialization schema: declare a PRIMARY KEY and set 'key.format'")
	case s.Value.Plan.layout == layoutChangelog:
		return fmt.Errorf("'upsert-kafka' connector doesn't support '%[1]s' as value format, because '%[1]s' is not in insert-only "+
			"mode: use another 'value.format'", s.Value.Plan.format)
	}
	return nil
}

func timestampNode(t *columnar.Type) *node {
	if t.Kind != columnar.TimestampLTZ {
		return nil
	}
	return &node{op: opTimestampUTC, kind: t.Kind, nullable: t.Nullable}
}

func textNode(t *columnar.Type) *node {
	if t.Kind != columnar.Char && t.Kind != columnar.VarChar {
		return nil
	}
	return &node{op: opString, kind: t.Kind, nullable: t.Nullable}
}

func headersNode(t *columnar.Type) *node {
	if t.Kind != columnar.Map || len(t.Children) != 2 {
		return nil
	}
	key, value := textNode(t.Children[0]), t.Children[1]
	if key == nil || value.Kind != columnar.Binary && value.Kind != columnar.VarBinary {
		return nil
	}
	return &node{op: opMap, kind: t.Kind, nullable: t.Nullable, children: []node{*key, {op: opBinary, kind: value.Kind}}}
}
