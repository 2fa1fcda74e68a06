package encode

import (
	"fmt"

	"penstock.dev/penstock/columnar"
)

// Project is the ROW of some fields of another one, in the order of columns, as Flink's Projection makes it. names are the names
// of its fields; nil keeps those that the fields have.
func Project(row *columnar.Type, columns []int, names []string) (*columnar.Type, error) {
	if err := checkColumns(row, columns); err != nil {
		return nil, err
	}
	if names != nil && len(names) != len(columns) {
		return nil, fmt.Errorf("%d names for %d columns: send one for each", len(names), len(columns))
	}
	t := &columnar.Type{Kind: columnar.Row, Nullable: row.Nullable}
	for i, c := range columns {
		name := row.FieldNames[c]
		if names != nil {
			name = names[i]
		}
		t.Children = append(t.Children, row.Children[c])
		t.FieldNames = append(t.FieldNames, name)
	}
	return t, nil
}

func checkColumns(row *columnar.Type, columns []int) error {
	if row == nil || row.Kind != columnar.Row || len(row.Children) != len(row.FieldNames) {
		return fmt.Errorf("the schema must be a ROW with one name for each field")
	}
	for _, c := range columns {
		if c < 0 || c >= len(row.Children) {
			return fmt.Errorf("column %d of a row of %d columns, which count from 0", c, len(row.Children))
		}
	}
	return nil
}

// projected fills into, whose columns it reuses, with the columns of b; the vectors are views as those of b are.
func projected(into, b *columnar.Batch, columns []int) (*columnar.Batch, error) {
	into.Rows, into.Kinds, into.Columns = b.Rows, b.Kinds, into.Columns[:0]
	for _, c := range columns {
		if c >= len(b.Columns) {
			return nil, badBatchf("batch has %d columns, the schema more than %d", len(b.Columns), c)
		}
		into.Columns = append(into.Columns, b.Columns[c])
	}
	return into, nil
}

// forget drops the views of a batch and keeps the memory that held them.
func forget(b *columnar.Batch) {
	clear(b.Columns)
	b.Kinds = nil
}
