package encode

import (
	"math/big"
	"strings"
	"testing"

	"penstock.dev/penstock/columnar"
)

func TestLineOf(t *testing.T) {
	for _, c := range []struct {
		flink, jackson string
		want           FlinkLine
		name           string
	}{
		{"2.0.0", "2.15.3", Line20, "2.0"}, {"2.0.2", "2.15.3", Line20, "2.0"}, {"2.1.1", "2.18.2", Line21, "2.1"},
		{"2.2.0", "2.18.2", Line22, "2.2"}, {"2.2.11", "2.18.2", Line22, "2.2"},
	} {
		if got, err := LineOf(c.flink, c.jackson); err != nil || got != c.want || got.String() != c.name {
			t.Errorf("Flink %s: %v, %v; want %v", c.flink, got, err, c.want)
		}
	}
	for _, c := range []struct{ flink, jackson, want string }{
		{"2.2.1", "2.15.3", `Flink 2.2.1 with the shaded Jackson "2.15.3": its bytes are known with Jackson 2.18.2 only`},
		{"2.0.2", "2.18.2", "with Jackson 2.15.3 only"},
		{"2.3.0", "2.20.1", `the bytes of Flink "2.3.0" are not known; known are the releases of 2.0, 2.1, 2.2`},
		{"1.20.4", "2.14.2", `"1.20.4"`}, {"2.2-SNAPSHOT", "2.18.2", `"2.2-SNAPSHOT"`}, {"2.2.1-vendor-3", "2.18.2", `"2.2.1-vendor-3"`},
		{"12.2.1", "2.18.2", `"12.2.1"`}, {"", "", `""`}, {"<unknown>", "2.18.2", `"<unknown>"`},
	} {
		if got, err := LineOf(c.flink, c.jackson); err == nil || got != LineUnknown || !strings.Contains(err.Error(), c.want) {
			t.Errorf("Flink %q: %v, %v; want an error with %q", c.flink, got, err, c.want)
		}
	}
	if s := FlinkLine(len(releases) + 1).String(); s != "unknown" {
		t.Errorf("String() = %q", s)
	}
}

// What Flink 2.0.2 writes.
func TestCSVDecimalsOfFlink20(t *testing.T) {
	small, hundred, digits := big.NewInt(1), big.NewInt(10_000), strings.Repeat("7", 25)
	long, _ := new(big.Int).SetString(digits, 10)
	for _, c := range []struct {
		opts  CSVOptions
		typ   *columnar.Type
		value any
		want  string
	}{
		{CSVOptions{}, decimalType(10, 2), hundred, "100.00"},
		{CSVOptions{}, decimalType(10, 7), small, "0.0000001"},
		{CSVOptions{ScientificDecimals: true}, decimalType(10, 2), hundred, `"1E+2"`},
		{CSVOptions{ScientificDecimals: true, QuotesDisabled: true}, decimalType(10, 2), hundred, "1E+2"},
		{CSVOptions{FieldDelimiter: ';'}, decimalType(10, 2), hundred, `"100.00"`},
		{CSVOptions{QuoteCharacter: '0', FieldDelimiter: '\t'}, decimalType(10, 2), hundred, "010000.00000"},
		{CSVOptions{}, decimalType(38, 0), long, `"` + digits + `"`},
		{CSVOptions{}, of(columnar.Array, decimalType(10, 7)), []any{small, big.NewInt(0), nil}, "1E-7;0E-7;"},
		{CSVOptions{}, of(columnar.Array, decimalType(10, 2)), []any{hundred}, "100.00"},
		{CSVOptions{ScientificDecimals: true}, of(columnar.Array, decimalType(10, 2)), []any{hundred}, `"1E+2"`},
		{CSVOptions{}, row("x", decimalType(10, 8)), []any{big.NewInt(-120)}, "-0.00000120"},
		{CSVOptions{}, row("x", decimalType(10, 9)), []any{big.NewInt(-120)}, "-1.20E-7"},
	} {
		c.opts.Line = Line20
		if got := csvField(t, c.opts, c.typ, c.value); got != c.want {
			t.Errorf("%+v %v: %s, want %s", c.opts, c.value, got, c.want)
		}
	}
}

func TestCSVDecimalsWantTheLine(t *testing.T) {
	for _, typ := range []*columnar.Type{decimalType(10, 2), of(columnar.Array, decimalType(10, 2)), row("x", decimalType(10, 2))} {
		_, err := CompileCSV(row("a", typ), CSVOptions{})
		if want := `csv: column "a`; err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "line of Flink") {
			t.Errorf("%v: %v, want an error with %q", typ, err, want)
		}
	}
	if _, err := CompileCSV(row("a", of(columnar.Integer)), CSVOptions{}); err != nil {
		t.Error(err)
	}
	if _, err := CompileCSV(row("a", of(columnar.Integer)), CSVOptions{Line: 9}); err == nil || !strings.Contains(err.Error(), "unknown value 9") {
		t.Error(err)
	}
}
