package encode

import (
	"fmt"

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
	opTimestamp
	opTimestampUTC
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
	// prefix is `,"name":` with the name escaped; empty for elements and map values.
	prefix []byte
	// path names the column in errors.
	path string
	// scale of DECIMAL.
	scale    int
	children []node
}

// Plan is a schema compiled for one format. It is immutable and safe for concurrent use.
type Plan struct {
	columns []node
	// ignoreNulls leaves null fields of every ROW out.
	ignoreNulls bool
	// separator stands between date and time: a space or T.
	separator byte
	nullKeys  NullKeyMode
	// nullKey is the literal for null keys, escaped and quoted.
	nullKey []byte
}

// CompileJSON compiles a row type for Flink's json format. It returns an error for what that format refuses, and for what
// cannot be reproduced: then the caller falls back to the stock sink and shows the error as the reason.
func CompileJSON(row *columnar.Type, opts JSONOptions) (*Plan, error) {
	if err := opts.validate(); err != nil {
		return nil, err
	}
	if row == nil || row.Kind != columnar.Row {
		return nil, fmt.Errorf("json: the schema must be a ROW")
	}
	p := &Plan{ignoreNulls: opts.IgnoreNullFields, separator: ' ', nullKeys: opts.NullKeys}
	if opts.Timestamps == TimestampISO8601 {
		p.separator = 'T'
	}
	p.nullKey = append(appendEscaped([]byte{'"'}, []byte(opts.NullKeyLiteral)), '"')
	c := compiler{opts: &opts}
	columns, err := c.fields(row, "", 0)
	if err != nil {
		return nil, fmt.Errorf("json: %w", err)
	}
	p.columns = columns
	return p, nil
}

type compiler struct {
	opts *JSONOptions
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
		prefix := appendEscaped([]byte(`,"`), []byte(name))
		nodes[i].prefix = append(prefix, '"', ':')
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
	case columnar.Row:
		n.op = opRow
		children, err := c.fields(t, path, depth)
		n.children = children
		return err
	}
	scalar, ok := scalarOps[t.Kind]
	if !ok {
		// NULL ends here too: the converter of Flink 2.2 knows it, but RowData.createFieldGetter refuses it.
		return fmt.Errorf("column %q: type %v is not supported by Flink's json format", path, t.Kind)
	}
	n.op = scalar
	return nil
}

// scalarOps holds the kinds whose instruction depends on nothing else. TIME is without fraction up to Flink 2.2.
var scalarOps = map[columnar.Kind]op{
	columnar.Boolean:           opBool,
	columnar.TinyInt:           opInt8,
	columnar.SmallInt:          opInt16,
	columnar.Integer:           opInt32,
	columnar.BigInt:            opInt64,
	columnar.Char:              opString,
	columnar.VarChar:           opString,
	columnar.Binary:            opBinary,
	columnar.VarBinary:         opBinary,
	columnar.Date:              opDate,
	columnar.Time:              opTime,
	columnar.Timestamp:         opTimestamp,
	columnar.TimestampLTZ:      opTimestampUTC,
	columnar.IntervalYearMonth: opInt32,
	columnar.IntervalDayTime:   opInt64,
}

func (c *compiler) float(n *node) error {
	switch {
	case c.opts.Floats == FloatsUnknown:
		return fmt.Errorf("column %q is FLOAT or DOUBLE and the JVM's spelling of floats is not known", n.path)
	case c.opts.Floats == FloatsLegacy && n.kind == columnar.Float:
		n.op = opFloatLegacy
	case c.opts.Floats == FloatsLegacy:
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
	if c.opts.PlainDecimals {
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
	if n.children[1].op == opRow && c.opts.IgnoreNullFields {
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
	if n.children[0].op != opString {
		return fmt.Errorf("column %q: JSON format doesn't support non-string as key type of map: "+
			"the key (the element of a MULTISET) must be CHAR or VARCHAR", n.path)
	}
	return nil
}
