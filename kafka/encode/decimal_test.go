package encode

import (
	"math/big"
	"strings"
	"testing"

	"penstock.dev/penstock/columnar"
)

// BigDecimal.toPlainString, and stripTrailingZeros().toString().
func TestDecimalText(t *testing.T) {
	nines, one := strings.Repeat("9", 38), "1"+strings.Repeat("0", 37)
	for _, c := range []struct {
		unscaled          string
		scale             int
		plain, scientific string
	}{
		{"10000", 2, "100.00", "1E+2"},
		{"-10000", 2, "-100.00", "-1E+2"},
		{"0", 2, "0.00", "0"},
		{"0", 0, "0", "0"},
		{"123450000", 0, "123450000", "1.2345E+8"},
		{"110", 2, "1.10", "1.1"},
		{"1", 6, "0.000001", "0.000001"},
		{"1", 7, "0.0000001", "1E-7"},
		{"-12", 8, "-0.00000012", "-1.2E-7"},
		{"1", 38, "0." + strings.Repeat("0", 37) + "1", "1E-38"},
		{nines, 0, nines, nines},
		{"-" + nines, 38, "-0." + nines, "-0." + nines},
		{one, 0, one, "1E+37"},
		{one, 37, "1." + strings.Repeat("0", 37), "1"},
		{"454621864049246170", 0, "454621864049246170", "4.5462186404924617E+17"},
		{"18446744073709551616", 0, "18446744073709551616", "18446744073709551616"},
		{"10000000000000000000000000000000000001", 0, "10000000000000000000000000000000000001", "10000000000000000000000000000000000001"},
		{"5", 1, "0.5", "0.5"},
		{"100000", 3, "100.000", "1E+2"},
	} {
		v, _ := new(big.Int).SetString(c.unscaled, 10)
		typ := decimalType(38, c.scale)
		if got := encodeOne(t, typ, JSONOptions{PlainDecimals: true}, v); got != c.plain {
			t.Errorf("%s scale %d plain: got %s, want %s", c.unscaled, c.scale, got, c.plain)
		}
		if got := encodeOne(t, typ, JSONOptions{}, v); got != c.scientific {
			t.Errorf("%s scale %d scientific: got %s, want %s", c.unscaled, c.scale, got, c.scientific)
		}
		// csv has the same text, never quoted, also where it is long or has a plus; in an array the whole is text.
		if got := csvField(t, CSVOptions{}, typ, v); got != c.plain {
			t.Errorf("%s scale %d in csv: got %s, want %s", c.unscaled, c.scale, got, c.plain)
		}
		if got := csvField(t, CSVOptions{ScientificDecimals: true}, typ, v); got != c.scientific {
			t.Errorf("%s scale %d in csv: got %s, want %s", c.unscaled, c.scale, got, c.scientific)
		}
		pair := plainCSV(c.scientific+";"+c.scientific, ',', '"', 0)
		if got := csvField(t, CSVOptions{ScientificDecimals: true}, of(columnar.Array, typ), []any{v, v}); got != pair {
			t.Errorf("%s scale %d in an array of csv: got %s, want %s", c.unscaled, c.scale, got, pair)
		}
	}
}
