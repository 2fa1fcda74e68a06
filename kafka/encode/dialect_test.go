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
		{"2.2.0", "2.18.2", Line22, "2.2"}, {"2.2.11", "2.18.2", Line22, "2.2"}, {"2.3.0", "2.20.1", Line23, "2.3"},
	} {
		if got, err := LineOf(c.flink, c.jackson); err != nil || got != c.want || got.String() != c.name {
			t.Errorf("Flink %s: %v, %v; want %v", c.flink, got, err, c.want)
		}
	}
	for _, c := range []struct{ flink, jackson, want string }{
		{"2.2.1", "2.15.3", `Flink 2.2.1 with the shaded Jackson "2.15.3": its bytes are known with Jackson 2.18.2 only`},
		{"2.0.2", "2.18.2", "with Jackson 2.15.3 only"},
		{"2.4.0", "2.20.1", `the bytes of Flink "2.4.0" are not known; known are the releases of 2.0, 2.1, 2.2, 2.3`},
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

// What Flink 2.3.0 writes; up to 2.2 there is no fraction, and -1 ms is 00:00:00.
func TestTimesOfFlink23(t *testing.T) {
	typ := row("f", of(columnar.Time))
	for millis, want := range map[int]string{
		0: "00:00:00", 45_296_789: "12:34:56.789", 43_200_470: "12:00:00.47", 86_399_999: "23:59:59.999", 60_000: "00:01:00",
	} {
		got, err := encodeRows(t, typ, JSONOptions{Line: Line23}, []any{millis})
		if err != nil || got[0] != `{"f":"`+want+`"}` {
			t.Errorf("%d: %v, %v; want %s", millis, got, err, want)
		}
	}
	for _, millis := range []int{-1, 86_400_000} {
		_, err := encodeRows(t, typ, JSONOptions{Line: Line23}, []any{millis})
		if err == nil || !strings.Contains(err.Error(), "is outside of one day") {
			t.Errorf("%d: %v", millis, err)
		}
	}
}

// Where the lines differ, the line must be known.
func TestTypesThatWantTheLine(t *testing.T) {
	csv := func(typ *columnar.Type, line FlinkLine) error {
		_, err := CompileCSV(typ, CSVOptions{Line: line})
		return err
	}
	json := func(typ *columnar.Type, line FlinkLine) error {
		_, err := CompileChangelog(EnvelopeCanal, typ, JSONOptions{Line: line})
		return err
	}
	decimal, time := decimalType(10, 2), of(columnar.Time)
	for _, c := range []struct {
		compile func(*columnar.Type, FlinkLine) error
		typ     *columnar.Type
		want    string
	}{
		{csv, decimal, `csv: column "a" is DECIMAL`}, {csv, of(columnar.Array, decimal), `csv: column "a[]" is DECIMAL`},
		{csv, row("x", decimal), `csv: column "a.x" is DECIMAL`}, {json, time, `canal-json: column "a" is TIME`},
		{json, of(columnar.Map, of(columnar.VarChar), time), `canal-json: column "a{}" is TIME`},
	} {
		err := c.compile(row("a", c.typ), LineUnknown)
		if err == nil || !strings.Contains(err.Error(), c.want+" and the line of Flink is not known") {
			t.Errorf("got %v, want an error with %q", err, c.want)
		}
		if err := c.compile(row("a", c.typ), Line21); err != nil {
			t.Error(err)
		}
		if err := c.compile(row("a", of(columnar.Integer)), LineUnknown); err != nil {
			t.Error(err)
		}
		if err := c.compile(row("a", of(columnar.Integer)), 9); err == nil || !strings.Contains(err.Error(), "line of Flink: unknown value 9") {
			t.Error(err)
		}
	}
}
