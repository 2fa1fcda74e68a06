package columnar

// Kind is the root of a logical type, after Flink's LogicalTypeRoot. Values equal TypeRoot in
// proto/penstock/v1/schema.proto.
type Kind uint8

// The kinds that have a column layout.
const (
	Invalid Kind = iota
	Boolean
	TinyInt
	SmallInt
	Integer
	BigInt
	Float
	Double
	Decimal
	Char
	VarChar
	Binary
	VarBinary
	Date
	Time
	Timestamp
	TimestampLTZ
	IntervalYearMonth
	IntervalDayTime
	Array
	Map
	Multiset
	Row
	Null
)

// Type is one logical type. It is immutable after construction and safe for concurrent use.
type Type struct {
	Kind     Kind
	Nullable bool
	// Precision of DECIMAL, TIME, TIMESTAMP and TIMESTAMP_LTZ.
	Precision int
	// Scale of DECIMAL.
	Scale int
	// Children: ARRAY has the element, MAP key and value, MULTISET the element, ROW its fields.
	Children []*Type
	// FieldNames of a ROW, parallel to Children.
	FieldNames []string
}
