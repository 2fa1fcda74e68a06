package encode

import (
	"fmt"
	"slices"

	"penstock.dev/penstock/columnar"
)

// maxDepth bounds the nesting of types; it is far above what a SQL type needs and keeps recursion bounded.
const maxDepth = 100

// op selects the code that writes one value. Everything that an option or a type decides is decided at compile time.
type op uint8

const (
	opBool op = iota
	opInt8
	opInt16
	opInt32
	opInt64
	opFloatLegacy
	opFloatShortest
	opDoubleLegacy
	opDoubleShortest
	opDecimalPlain
	opDecimalScientific
	opString
	opBinary
	opDate
	opTime
	opTimeMillis
	opTimestamp
	opTimestampUTC
	opNull
	// opFixed copies the bytes of a value of fixed width.
	opFixed
	opArray
	opMap
	opMergeMap
	opRow
)

// node is the instruction for one column, element or map value.
type node struct {
	op       op
	kind     columnar.Kind
	nullable bool
	// prefix stands before a field of a ROW: `,"name":` with the name escaped in json, the delimiter from the second field on in
	// csv. It is empty for elements and map values.
	prefix []byte
	// path names the column in errors.
	path string
	// scale of DECIMAL.
	scale    int
	children []node
}

// layout selects what a record is made of.
type layout uint8

const (
	layoutJSON layout = iota
	layoutChangelog
	layoutCSV
	layoutRaw
	layoutProtobuf
	layoutAvro
)

// Plan is a schema compiled for one format. It is immutable and safe for concurrent use.
type Plan struct {
	// format is Flink's name of the format.
	format  string
	layout  layout
	columns []node
	// ignoreNulls leaves null fields of every ROW out.
	ignoreNulls bool
	// separator stands between date and time: a space or T.
	separator byte
	// localUTC says that Flink takes TIMESTAMP_LTZ through toLocalDateTime, as csv does, and not through toInstant, as json does.
	localUTC bool
	nullKeys NullKeyMode
	// nullKey is the literal for null keys, escaped and quoted.
	nullKey []byte
	// images are the envelopes of a changelog format.
	images images
	// csv is set for that format only.
	csv *csvPlan
	// littleEndian is the byte order of raw.
	littleEndian bool
	// message is set for protobuf only.
	message *protoMessage
	// avro is for that layout only.
	avro avroPlan
}

// Format is Flink's name of the format that the plan writes, for example "json" or "debezium-json".
func (p *Plan) Format() string { return p.format }

// compiler holds what the formats differ in when a type becomes a node.
type compiler struct {
	// format names the format in errors.
	format string
	// scalars has the kinds whose instruction depends on nothing else.
	scalars map[columnar.Kind]op
	// composite has the further kinds that the format accepts.
	composite []columnar.Kind
	// prefix makes node.prefix of field i of a ROW; depth is 1 for the columns of the record.
	prefix        func(i int, name string, depth int) []byte
	floats        FloatSpelling
	plainDecimals bool
	// mergeRows says that null fields are left out, so that a repeated map key merges its ROW values.
	mergeRows bool
	// flat refuses ARRAY and ROW inside of each other.
	flat bool
	// anyKey admits maps whose keys are not text.
	anyKey bool
}

// columns compiles the columns of the record.
func (c *compiler) columns(row *columnar.Type) ([]node, error) {
	if row == nil || row.Kind != columnar.Row {
		return nil, fmt.Errorf("%s: the schema must be a ROW", c.format)
	}
	nodes, err := c.fields(row, "", 0)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", c.format, err)
	}
	return nodes, nil
}

func (c *compiler) fields(row *columnar.Type, path string, depth int) ([]node, error) {
	if len(row.Children) != len(row.FieldNames) {
		return nil, fmt.Errorf("ROW %q has %d fields and %d names", path, len(row.Children), len(row.FieldNames))
	}
	nodes := make([]node, len(row.Children))
	seen := make(map[string]struct{}, len(row.FieldNames))
	for i, name := range row.FieldNames {
		if _, twice := seen[name]; twice {
			return nil, fmt.Errorf("field name %q stands twice in ROW %q: field names must be unique", name, path)
		}
		seen[name] = struct{}{}
		fieldPath := name
		if path != "" {
			fieldPath = path + "." + name
		}
		if err := c.compile(&nodes[i], row.Children[i], fieldPath, depth+1); err != nil {
			return nil, err
		}
		nodes[i].prefix = c.prefix(i, name, depth+1)
	}
	return nodes, nil
}

func (c *compiler) compile(n *node, t *columnar.Type, path string, depth int) error {
	if t == nil {
		return fmt.Errorf("column %q has no type", path)
	}
	if depth > maxDepth {
		return fmt.Errorf("column %.60q is nested deeper than %d levels", path, maxDepth)
	}
	n.kind, n.nullable, n.path = t.Kind, t.Nullable, path
	if scalar, ok := c.scalars[t.Kind]; ok {
		n.op = scalar
		return nil
	}
	if !slices.Contains(c.composite, t.Kind) {
		return fmt.Errorf("column %q: type %v is not supported by Flink's %s format", path, t.Kind, c.format)
	}
	if nested := t.Kind == columnar.Array || t.Kind == columnar.Row; c.flat && nested && depth > 1 {
		return fmt.Errorf("column %q: Only simple types are supported in the second level nesting of fields but was: %v", path, t.Kind)
	}
	return c.compose(n, t, depth)
}

// compose compiles a kind whose instruction depends on its type or on options.
func (c *compiler) compose(n *node, t *columnar.Type, depth int) error {
	switch t.Kind {
	case columnar.Float, columnar.Double:
		return c.float(n)
	case columnar.Decimal:
		return c.decimal(n, t)
	case columnar.Array:
		return c.nested(n, t, opArray, depth, "[]")
	case columnar.Map:
		return c.mapping(n, t, depth)
	case columnar.Multiset:
		return c.multiset(n, t, depth)
	}
	n.op = opRow
	children, err := c.fields(t, n.path, depth)
	n.children = children
	return err
}

func (c *compiler) float(n *node) error {
	switch {
	case c.floats == FloatsUnknown:
		return fmt.Errorf("column %q is FLOAT or DOUBLE and the JVM's spelling of floats is not known", n.path)
	case c.floats == FloatsLegacy && n.kind == columnar.Float:
		n.op = opFloatLegacy
	case c.floats == FloatsLegacy:
		n.op = opDoubleLegacy
	case n.kind == columnar.Float:
		n.op = opFloatShortest
	default:
		n.op = opDoubleShortest
	}
	return nil
}

func (c *compiler) decimal(n *node, t *columnar.Type) error {
	if t.Precision < 1 || t.Precision > 38 || t.Scale < 0 || t.Scale > t.Precision {
		return fmt.Errorf("column %q: DECIMAL(%d, %d) is not valid: precision is 1 to 38, scale 0 to the precision",
			n.path, t.Precision, t.Scale)
	}
	n.scale = t.Scale
	n.op = opDecimalScientific
	if c.plainDecimals {
		n.op = opDecimalPlain
	}
	return nil
}

// nested compiles the children of an ARRAY or a MAP; marks are appended to the path, one for each child.
func (c *compiler) nested(n *node, t *columnar.Type, o op, depth int, marks ...string) error {
	if len(t.Children) != len(marks) {
		return fmt.Errorf("column %q: %v has %d children instead of %d", n.path, t.Kind, len(t.Children), len(marks))
	}
	n.op = o
	n.children = make([]node, len(marks))
	for i, mark := range marks {
		if err := c.compile(&n.children[i], t.Children[i], n.path+mark, depth+1); err != nil {
			return err
		}
	}
	return nil
}

func (c *compiler) mapping(n *node, t *columnar.Type, depth int) error {
	if err := c.nested(n, t, opMap, depth, "{key}", "{}"); err != nil {
		return err
	}
	// A repeated key writes the second ROW into the node of the first one; with null fields left out that merges the two.
	if n.children[1].op == opRow && c.mergeRows {
		n.op = opMergeMap
	}
	return c.stringKey(n)
}

// multiset compiles a MULTISET as Flink does: a map from the element to a nullable count.
func (c *compiler) multiset(n *node, t *columnar.Type, depth int) error {
	if len(t.Children) != 1 {
		return fmt.Errorf("column %q: MULTISET has %d children instead of 1", n.path, len(t.Children))
	}
	count := &columnar.Type{Kind: columnar.Integer, Nullable: true}
	asMap := &columnar.Type{Kind: columnar.Map, Children: []*columnar.Type{t.Children[0], count}}
	return c.mapping(n, asMap, depth)
}

func (c *compiler) stringKey(n *node) error {
	if n.children[0].op != opString && !c.anyKey {
		return fmt.Errorf("column %q: JSON format doesn't support non-string as key type of map: "+
			"the key (the element of a MULTISET) must be CHAR or VARCHAR", n.path)
	}
	return nil
}
