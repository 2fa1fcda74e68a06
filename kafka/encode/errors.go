package encode

import "fmt"

// RowError says that one row cannot be written. Flink's own serializer would fail the job at the same row.
type RowError struct {
	// Row is the index of the row in its batch.
	Row int
	// Part is "key", "value", "topic" or "timestamp"; empty when the record is nothing but its value.
	Part string
	// Column is the path of the column, for example "tags" or "address.street"; "[]" marks elements, "{}" map values.
	Column string
	// Reason says what is wrong and, where an option helps, which.
	Reason string
}

// Error names row, part and column, in the words of Flink's own error.
func (e *RowError) Error() string {
	if e.Part != "" {
		return fmt.Sprintf("row %d, %s: fail to serialize at field: %s. %s", e.Row, e.Part, e.Column, e.Reason)
	}
	return fmt.Sprintf("row %d: fail to serialize at field: %s. %s", e.Row, e.Column, e.Reason)
}

// BadBatch says that a batch does not fit its schema or contradicts itself. The client that wrote it is at fault; nothing
// of the batch may be produced.
type BadBatch struct {
	Detail string
}

// Error describes the fault.
func (e *BadBatch) Error() string { return "bad batch: " + e.Detail }

func badBatchf(format string, args ...any) *BadBatch {
	return &BadBatch{Detail: fmt.Sprintf(format, args...)}
}
