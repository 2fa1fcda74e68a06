package encode

import (
	"strings"
	"testing"

	"penstock.dev/penstock/columnar"
)

func TestCompileRefuses(t *testing.T) {
	bigint, text := of(columnar.BigInt), of(columnar.VarChar)
	deep := bigint
	for range maxDepth + 1 {
		deep = of(columnar.Array, deep)
	}
	for _, c := range []struct {
		typ  *columnar.Type
		opts JSONOptions
		want string
	}{
		{nil, JSONOptions{}, "must be a ROW"},
		{bigint, JSONOptions{}, "must be a ROW"},
		{row("m", of(columnar.Map, bigint, text)), JSONOptions{}, `column "m": JSON format doesn't support non-string as key type of map`},
		{row("m", of(columnar.Multiset, bigint)), JSONOptions{}, `column "m": JSON format doesn't support non-string`},
		{row("a", of(columnar.Array, row("x", of(columnar.Null)))), JSONOptions{}, `column "a[].x": type NULL is not supported`},
		{row("a", of(99)), JSONOptions{}, `column "a": type KIND(99) is not supported`},
		{row("a", of(columnar.Double)), JSONOptions{}, `column "a" is FLOAT or DOUBLE and the JVM's spelling of floats is not known`},
		{row("a", decimalType(39, 0)), JSONOptions{}, "DECIMAL(39, 0) is not valid"},
		{row("a", decimalType(3, 4)), JSONOptions{}, "DECIMAL(3, 4) is not valid"},
		{row("a", bigint, "a", text), JSONOptions{}, `"a" stands twice`},
		{row("a", (*columnar.Type)(nil)), JSONOptions{}, `"a" has no type`},
		{row("a", of(columnar.Array)), JSONOptions{}, "ARRAY has 0 children instead of 1"},
		{row("a", of(columnar.Multiset)), JSONOptions{}, "MULTISET has 0 children instead of 1"},
		{row("a", deep), JSONOptions{}, "nested deeper than 100 levels"},
		{&columnar.Type{Kind: columnar.Row, FieldNames: []string{"a"}}, JSONOptions{}, "0 fields and 1 names"},
		{row("a", bigint), JSONOptions{Timestamps: 9}, "json.timestamp-format.standard: unknown value 9"},
		{row("a", bigint), JSONOptions{NullKeys: 9}, "json.map-null-key.mode: unknown value 9"},
		{row("a", bigint), JSONOptions{Floats: 9}, "float spelling: unknown value 9"},
	} {
		if _, err := CompileJSON(c.typ, c.opts); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("got %v, want an error with %q", err, c.want)
		}
	}
}
