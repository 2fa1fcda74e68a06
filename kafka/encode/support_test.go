package encode

import (
	"testing"

	"penstock.dev/penstock/columnar"
)

func mustCompile(tb testing.TB, row *columnar.Type, opts JSONOptions) *Plan {
	tb.Helper()
	if opts.Floats == FloatsUnknown {
		opts.Floats = FloatsLegacy
	}
	if opts.Line == LineUnknown {
		opts.Line = Line22
	}
	p, err := CompileJSON(row, opts)
	if err != nil {
		tb.Fatal(err)
	}
	return p
}

// of is a nullable type with children.
func of(k columnar.Kind, children ...*columnar.Type) *columnar.Type {
	return &columnar.Type{Kind: k, Nullable: true, Children: children}
}

func notNull(t *columnar.Type) *columnar.Type {
	c := *t
	c.Nullable = false
	return &c
}

func decimalType(precision, scale int) *columnar.Type {
	return &columnar.Type{Kind: columnar.Decimal, Nullable: true, Precision: precision, Scale: scale}
}

// row is a ROW of names and types in turn.
func row(namesAndTypes ...any) *columnar.Type {
	t := of(columnar.Row)
	for i := 0; i < len(namesAndTypes); i += 2 {
		t.FieldNames = append(t.FieldNames, namesAndTypes[i].(string))
		t.Children = append(t.Children, namesAndTypes[i+1].(*columnar.Type))
	}
	return t
}

// build makes a batch of rows, each a []any with one value for each field.
func build(tb testing.TB, t *columnar.Type, rows ...[]any) *columnar.Batch {
	tb.Helper()
	b := columnar.NewBuilder(t)
	for _, r := range rows {
		b.Append(0, r...)
	}
	batch, err := columnar.Parse(b.Finish(1), t, 1)
	if err != nil {
		tb.Fatal(err)
	}
	return &batch
}

// encodeRows compiles, builds and encodes; it returns the records.
func encodeRows(tb testing.TB, t *columnar.Type, opts JSONOptions, rows ...[]any) ([]string, error) {
	tb.Helper()
	batch := build(tb, t, rows...)
	out, err := NewEncoder(mustCompile(tb, t, opts)).Encode(batch, AllRows(batch))
	if err != nil {
		return nil, err
	}
	return records(out), nil
}

func records(out *Encoded) []string {
	texts := make([]string, out.Len())
	for i := range texts {
		texts[i] = string(out.Value(i))
	}
	return texts
}

// encodeOne encodes a single value as field "f" and returns its text without `{"f":` and `}`.
func encodeOne(tb testing.TB, t *columnar.Type, opts JSONOptions, value any) string {
	tb.Helper()
	got, err := encodeRows(tb, row("f", t), opts, []any{value})
	if err != nil {
		tb.Fatal(err)
	}
	return got[0][len(`{"f":`) : len(got[0])-1]
}
