package encode

import (
	"math"
	"testing"
)

// JDK 17 and JDK 25 wrote these texts.
func TestDoubleText(t *testing.T) {
	for _, c := range []struct {
		bits             uint64
		legacy, shortest string
	}{
		{0x44B52D02C7E14AF6, "9.999999999999999E22", "1.0E23"},
		{0x44C52D02C7E14AF6, "1.9999999999999998E23", "2.0E23"},
		{0x447C7E83209E90B2, "8.409999999999999E21", "8.41E21"},
		{0x7BE0000000000000, "4.8726570056999995E288", "4.8726570057E288"},
		{0x0000000000000001, "4.9E-324", "4.9E-324"},
		{0xC53D77CE317C4557, "-3.5624613975366162E25", "-3.5624613975366163E25"},
		{0x45494FCD52EB4B9A, "6.1199999999999994E25", "6.1199999999999994E25"}, // M wraps to a negative number
		{0x3E60000000000000, "2.9802322387695312E-8", "2.9802322387695312E-8"}, // exactly half: the even digit
		{math.Float64bits(1e7), "1.0E7", "1.0E7"},
		{math.Float64bits(9999999), "9999999.0", "9999999.0"},
		{math.Float64bits(0.001), "0.001", "0.001"},
		{math.Float64bits(9.999e-4), "9.999E-4", "9.999E-4"},
		{math.Float64bits(math.Copysign(0, -1)), "-0.0", "-0.0"},
		{math.Float64bits(math.NaN()), "NaN", "NaN"},
		{0xFFF8000000000001, "NaN", "NaN"},
		{math.Float64bits(math.Inf(1)), "Infinity", "Infinity"},
		{math.Float64bits(math.Inf(-1)), "-Infinity", "-Infinity"},
	} {
		v := math.Float64frombits(c.bits)
		if got := string(appendDoubleLegacy(nil, v)); got != c.legacy {
			t.Errorf("%016X legacy: got %s, want %s", c.bits, got, c.legacy)
		}
		if got := string(appendDoubleShortest(nil, v)); got != c.shortest {
			t.Errorf("%016X shortest: got %s, want %s", c.bits, got, c.shortest)
		}
	}
}

func TestFloatText(t *testing.T) {
	for _, c := range []struct {
		bits             uint32
		legacy, shortest string
	}{
		{0x6A3D4C5A, "5.7211884E25", "5.7211885E25"},
		{0x4CEB79A2, "1.23456784E8", "1.2345678E8"},
		{0x69000000, "9.6714065E24", "9.671407E24"},
		{0x7E800000, "8.507059E37", "8.507059E37"},
		{0x00000001, "1.4E-45", "1.4E-45"},
		{0x26500000, "7.2164497E-16", "7.2164497E-16"},
		{0xBD4C1C77, "-0.049831834", "-0.049831834"},
		{0x4A5AFCF1, "3587900.2", "3587900.2"},       // exactly half: the even digit
		{0x39800000, "2.4414062E-4", "2.4414062E-4"}, // a tie: the even digit
		{0x7FC00001, "NaN", "NaN"},
		{0xFF800000, "-Infinity", "-Infinity"},
	} {
		v := math.Float32frombits(c.bits)
		if got := string(appendFloatLegacy(nil, v)); got != c.legacy {
			t.Errorf("%08X legacy: got %s, want %s", c.bits, got, c.legacy)
		}
		if got := string(appendFloatShortest(nil, v)); got != c.shortest {
			t.Errorf("%08X shortest: got %s, want %s", c.bits, got, c.shortest)
		}
	}
}

// Every double is at least read back as itself, over all exponents: the widest numbers fit natural.
func TestDoubleAllExponents(t *testing.T) {
	for exponent := uint64(0); exponent < 2047; exponent++ {
		for _, fraction := range []uint64{1, 1 << 51, 1<<52 - 1, 0x5555555555555} {
			v := math.Float64frombits(exponent<<52 | fraction)
			for _, text := range []string{string(appendDoubleLegacy(nil, v)), string(appendDoubleShortest(nil, v))} {
				if back := mustParse(t, text); back != v {
					t.Fatalf("%016X: %s reads as %v", math.Float64bits(v), text, back)
				}
			}
		}
	}
}
