package columnar

import (
	"errors"
	"fmt"
)

// Numbers of shm/LAYOUT.md, section Batches. A test compares them with shm/testdata/layout.golden; they stand here a
// second time because this package imports nothing of Penstock.
const (
	batchMagic       = 0x31544250 // "PBT1"
	batchVersion     = 1
	batchHeaderBytes = 64
	batchAlign       = 64

	offMagic       = 0
	offVersion     = 4
	offFlags       = 6
	offRowCount    = 8
	offNodeCount   = 12
	offBufferCount = 16
	offSchemaTag   = 20
	offBodyBytes   = 24

	nodeBytes   = 16
	bufferBytes = 16

	flagAllInsert = 1
)

const (
	// maxDepth bounds the recursion over a type that came from a client.
	maxDepth = 64
	// maxNodes bounds the size of one type tree; Flink tables have at most a few thousand fields.
	maxNodes = 1 << 16
	// spareElements is how many elements a batch may claim beyond one for each of its bytes. Columns of type NULL and rows
	// without fields occupy no bytes; without a bound, a header of 64 bytes could keep an encoder busy for minutes.
	spareElements = 1 << 20
)

// shape is what one type needs in the node table and the buffer table, its children included.
type shape struct{ nodes, buffers int }

func (s shape) plus(o shape) shape { return shape{s.nodes + o.nodes, s.buffers + o.buffers} }

// fixedWidth is the size in bytes of one element's value; 0 for kinds whose values are bits, variable or nested.
func fixedWidth(k Kind) int {
	switch k {
	case TinyInt:
		return 1
	case SmallInt:
		return 2
	case Integer, Float, Date, Time, IntervalYearMonth:
		return 4
	case BigInt, Double, IntervalDayTime:
		return 8
	case Decimal:
		return 16
	}
	return 0
}

// Check reports why t cannot be laid out as columns: an unknown kind, the wrong number of children, a precision outside
// Flink's range, or a tree that is too deep or too wide. A nil error means that Parser and Builder accept the type,
// provided that its kind is Row.
func (t *Type) Check() error {
	_, err := t.shape(0)
	return err
}

// ErrType is what errors about a type wrap.
var ErrType = errors.New("unsupported column type")

func (t *Type) shape(depth int) (shape, error) {
	if t == nil {
		return shape{}, fmt.Errorf("%w: missing type", ErrType)
	}
	if depth > maxDepth {
		return shape{}, fmt.Errorf("%w: nested deeper than %d levels", ErrType, maxDepth)
	}
	if err := t.checkShallow(); err != nil {
		return shape{}, err
	}
	own := ownShape(t.Kind)
	for i, child := range t.Children {
		s, err := child.shape(depth + 1)
		if err != nil {
			return shape{}, fmt.Errorf("%s: %w", childName(t, i), err)
		}
		if own = own.plus(s); own.nodes > maxNodes {
			return shape{}, fmt.Errorf("%w: more than %d nodes", ErrType, maxNodes)
		}
	}
	return own, nil
}

// ownShape is the shape of a kind without the children that the type names.
func ownShape(k Kind) shape {
	switch k {
	case Null:
		return shape{1, 0}
	case Char, VarChar, Binary, VarBinary:
		return shape{1, 3}
	case Timestamp, TimestampLTZ:
		return shape{3, 5} // struct, millis, nanos
	case Array:
		return shape{1, 2}
	case Map:
		return shape{2, 3} // list, struct of entries
	case Multiset:
		return shape{3, 5} // as a map, with the INTEGER count that the type does not name
	case Row:
		return shape{1, 1}
	}
	return shape{1, 2}
}

func (t *Type) checkShallow() error {
	want := 0
	switch t.Kind {
	case Array, Multiset:
		want = 1
	case Map:
		want = 2
	case Row:
		want = len(t.Children)
		if len(t.FieldNames) != want {
			return fmt.Errorf("%w: ROW with %d fields and %d field names", ErrType, want, len(t.FieldNames))
		}
	}
	switch {
	case t.Kind == Invalid || t.Kind > Null:
		return fmt.Errorf("%w: kind %d is unknown", ErrType, t.Kind)
	case len(t.Children) != want:
		return fmt.Errorf("%w: %v has %d children, needs %d", ErrType, t.Kind, len(t.Children), want)
	case t.Kind == Decimal && (t.Precision < 1 || t.Precision > 38 || t.Scale < 0 || t.Scale > t.Precision):
		return fmt.Errorf("%w: DECIMAL(%d, %d); precision is 1 to 38 and scale 0 to precision", ErrType, t.Precision, t.Scale)
	case t.Kind >= Time && t.Kind <= TimestampLTZ && (t.Precision < 0 || t.Precision > 9):
		return fmt.Errorf("%w: %v(%d); precision is 0 to 9", ErrType, t.Kind, t.Precision)
	}
	return nil
}

var kindNames = [...]string{
	Invalid: "INVALID", Boolean: "BOOLEAN", TinyInt: "TINYINT", SmallInt: "SMALLINT", Integer: "INTEGER", BigInt: "BIGINT",
	Float: "FLOAT", Double: "DOUBLE", Decimal: "DECIMAL", Char: "CHAR", VarChar: "VARCHAR", Binary: "BINARY",
	VarBinary: "VARBINARY", Date: "DATE", Time: "TIME", Timestamp: "TIMESTAMP", TimestampLTZ: "TIMESTAMP_LTZ",
	IntervalYearMonth: "INTERVAL YEAR TO MONTH", IntervalDayTime: "INTERVAL DAY TO SECOND", Array: "ARRAY", Map: "MAP",
	Multiset: "MULTISET", Row: "ROW", Null: "NULL",
}

// String is the name of the kind in Flink SQL.
func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return fmt.Sprintf("KIND(%d)", uint8(k))
}

// childName names child i of t in error messages.
func childName(t *Type, i int) string {
	switch {
	case t.Kind == Row:
		return fmt.Sprintf("field %q", t.FieldNames[i])
	case t.Kind == Map && i == 0, t.Kind == Multiset && i == 0:
		return "key"
	case t.Kind == Map || t.Kind == Multiset:
		return "value"
	}
	return "element"
}
