package columnar

// Vector is a view of one Arrow array. Which fields are set follows from the type: see shm/LAYOUT.md.
// Validity and Values alias the batch's bytes; nobody may keep them after the batch is settled.
type Vector struct {
	Type *Type
	// Len is the number of elements.
	Len int
	// NullCount is the number of nulls; 0 means that Validity is nil. It is Len for the kind Null, which has no Validity.
	NullCount int
	// Validity has one bit for each element, least significant bit first; 1 is valid. nil: all valid.
	Validity []byte
	// Values holds fixed-width values (little-endian), the bits of BOOLEAN, or the bytes of strings and binaries.
	Values []byte
	// Offsets holds Len+1 little-endian int32 of strings, binaries, lists and maps; empty when Len is 0. It is a private,
	// checked copy: they start at 0 or more, never fall, and the last is at most the length of Values or of the children.
	Offsets []byte
	// Children: TIMESTAMP and TIMESTAMP_LTZ have millis (int64) and nanos (int32); ARRAY has the elements; MAP and MULTISET
	// have keys and values (the struct node between is checked and left out); ROW has its fields.
	Children []Vector
}

// Batch is a view of one batch of rows.
type Batch struct {
	Rows int
	// Kinds has one RowKind byte value (0 to 3) for each row; nil means that every row is an INSERT. It is a private copy.
	Kinds []byte
	// Columns are the fields of the top-level row type.
	Columns []Vector
}
