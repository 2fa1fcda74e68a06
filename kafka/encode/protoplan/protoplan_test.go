package protoplan

import (
	"strings"
	"testing"

	"penstock.dev/penstock/columnar"
	pb "penstock.dev/penstock/proto/gen/penstock/v1"
)

// The conversion is a cast: every root must be the kind of the same meaning.
func TestKindsAreTypeRoots(t *testing.T) {
	pairs := map[pb.TypeRoot]columnar.Kind{
		pb.TypeRoot_BOOLEAN: columnar.Boolean, pb.TypeRoot_TINYINT: columnar.TinyInt, pb.TypeRoot_SMALLINT: columnar.SmallInt,
		pb.TypeRoot_INTEGER: columnar.Integer, pb.TypeRoot_BIGINT: columnar.BigInt, pb.TypeRoot_FLOAT: columnar.Float,
		pb.TypeRoot_DOUBLE: columnar.Double, pb.TypeRoot_DECIMAL: columnar.Decimal, pb.TypeRoot_CHAR: columnar.Char,
		pb.TypeRoot_VARCHAR: columnar.VarChar, pb.TypeRoot_BINARY: columnar.Binary, pb.TypeRoot_VARBINARY: columnar.VarBinary,
		pb.TypeRoot_DATE: columnar.Date, pb.TypeRoot_TIME: columnar.Time, pb.TypeRoot_TIMESTAMP: columnar.Timestamp,
		pb.TypeRoot_TIMESTAMP_LTZ: columnar.TimestampLTZ, pb.TypeRoot_INTERVAL_YEAR_MONTH: columnar.IntervalYearMonth,
		pb.TypeRoot_INTERVAL_DAY_TIME: columnar.IntervalDayTime, pb.TypeRoot_ARRAY: columnar.Array, pb.TypeRoot_MAP: columnar.Map,
		pb.TypeRoot_MULTISET: columnar.Multiset, pb.TypeRoot_ROW: columnar.Row, pb.TypeRoot_NULL_TYPE: columnar.Null,
	}
	if want := len(pb.TypeRoot_name) - 1; len(pairs) != want {
		t.Fatalf("%d pairs, the proto has %d roots", len(pairs), want)
	}
	for root, kind := range pairs {
		if int(root) != int(kind) {
			t.Errorf("%v is %d, %v is %d", root, root, kind, kind)
		}
	}
}

func field(root pb.TypeRoot) *pb.Schema {
	return &pb.Schema{Row: &pb.LogicalType{
		Root: pb.TypeRoot_ROW, Children: []*pb.LogicalType{{Root: root, Nullable: true}}, FieldNames: []string{"f"},
	}}
}

func TestTypeKeepsEverything(t *testing.T) {
	s := &pb.Schema{Row: &pb.LogicalType{Root: pb.TypeRoot_ROW, FieldNames: []string{"d", "a"}, Children: []*pb.LogicalType{
		{Root: pb.TypeRoot_DECIMAL, Precision: 10, Scale: 2},
		{Root: pb.TypeRoot_ARRAY, Nullable: true, Children: []*pb.LogicalType{{Root: pb.TypeRoot_BIGINT, Nullable: true}}},
	}}}
	row, err := Type(s)
	if err != nil {
		t.Fatal(err)
	}
	d, a := row.Children[0], row.Children[1]
	if d.Kind != columnar.Decimal || d.Nullable || d.Precision != 10 || d.Scale != 2 {
		t.Errorf("decimal became %+v", d)
	}
	if a.Kind != columnar.Array || !a.Nullable || a.Children[0].Kind != columnar.BigInt || row.FieldNames[1] != "a" {
		t.Errorf("array became %+v of %+v, named %q", a, a.Children[0], row.FieldNames)
	}
}

func TestTypeRefuses(t *testing.T) {
	deep := &pb.LogicalType{Root: pb.TypeRoot_BIGINT}
	for range maxDepth + 1 {
		deep = &pb.LogicalType{Root: pb.TypeRoot_ARRAY, Children: []*pb.LogicalType{deep}}
	}
	for want, s := range map[string]*pb.Schema{
		"schema.row is missing":               {},
		"it must be ROW":                      {Row: &pb.LogicalType{Root: pb.TypeRoot_BIGINT}},
		"type root 99 is not known":           field(99),
		"type root 0 is not known":            field(0),
		"nested deeper":                       {Row: deep},
		"ROW with 0 fields and 1 field names": {Row: &pb.LogicalType{Root: pb.TypeRoot_ROW, FieldNames: []string{"f"}}},
		"precision and scale are at most 38":  {Row: &pb.LogicalType{Root: pb.TypeRoot_DECIMAL, Precision: 1 << 31}},
		"ARRAY has 0 children":                field(pb.TypeRoot_ARRAY),
	} {
		if _, err := Type(s); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want an error with %q", err, want)
		}
	}
}
