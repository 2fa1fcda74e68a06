// Package protoplan turns the schema and the format options that a client sent into the types of packages columnar and
// encode. The daemon and the parity harness both use it, so that what is tested is what runs.
//
// Its errors are answers to the client: each means that the writer falls back to the stock sink, with the error as reason.
package protoplan

import (
	"fmt"

	"penstock.dev/penstock/columnar"
	pb "penstock.dev/penstock/proto/gen/penstock/v1"
)

// maxDepth bounds the nesting of a foreign type before anything recurses further.
const maxDepth = 100

// Type converts the row type of a schema and checks that it can be laid out.
func Type(s *pb.Schema) (*columnar.Type, error) {
	if s.GetRow() == nil {
		return nil, fmt.Errorf("schema.row is missing: send the physical row type")
	}
	t, err := convert(s.GetRow(), 0)
	if err != nil {
		return nil, fmt.Errorf("schema: %w", err)
	}
	if t.Kind != columnar.Row {
		return nil, fmt.Errorf("schema.row.root is %v: it must be ROW", s.GetRow().GetRoot())
	}
	if err := t.Check(); err != nil {
		return nil, fmt.Errorf("schema: %w", err)
	}
	return t, nil
}

func convert(p *pb.LogicalType, depth int) (*columnar.Type, error) {
	if depth > maxDepth {
		return nil, fmt.Errorf("types nested deeper than %d levels", maxDepth)
	}
	root := p.GetRoot()
	// columnar.Kind has the numbers of TypeRoot; a test holds the two together.
	if root <= pb.TypeRoot_TYPE_ROOT_UNSPECIFIED || root > pb.TypeRoot_NULL_TYPE {
		return nil, fmt.Errorf("type root %d is not known to this daemon: use a client of the same version", int32(root))
	}
	if p.GetPrecision() > 38 || p.GetScale() > 38 {
		return nil, fmt.Errorf("%v(%d, %d): precision and scale are at most 38", root, p.GetPrecision(), p.GetScale())
	}
	t := &columnar.Type{
		Kind:       columnar.Kind(root),
		Nullable:   p.GetNullable(),
		Precision:  int(p.GetPrecision()),
		Scale:      int(p.GetScale()),
		FieldNames: p.GetFieldNames(),
	}
	for _, child := range p.GetChildren() {
		c, err := convert(child, depth+1)
		if err != nil {
			return nil, err
		}
		t.Children = append(t.Children, c)
	}
	return t, nil
}
