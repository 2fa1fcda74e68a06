package encode

import (
	"fmt"
	"math"
)

// probeDoubles and probeFloats are the bits of the corpus; testdata/float_probe.txt has the same, in this order.
var probeDoubles = []uint64{
	0x44B52D02C7E14AF6, 0x44C52D02C7E14AF6, 0x447C7E83209E90B2, 0x7BE0000000000000, 0x0000000000000001,
	0xC53D77CE317C4557, 0x0000000000000000, 0x8000000000000000, 0x3FF0000000000000, 0xBFF8000000000000,
	0x3FB999999999999A, 0x3FD3333333333333, 0x4059000000000000, 0x416312CFE0000000, 0x416312D000000000,
	0x3F50624DD2F1A9FC, 0x3F5061E273273F09, 0x40FE240C9FBE76C9, 0x400921FB54442D18, 0x4340000000000000,
	0x43E0000000000000, 0x4341C37937E08000, 0x4011666666666666, 0x3F60624DD2F1A9FC, 0x7FEFFFFFFFFFFFFF,
	0x0010000000000000, 0x0000000000000002, 0x000FFFFFFFFFFFFF, 0x7FF0000000000000, 0xFFF0000000000000,
	0x7FF8000000000000, 0x5940000000000000, 0x75E0000000000000, 0x4350E2A4823404B0, 0x1C50000000000000,
	0x4940000000000000, 0x61D0000000000000, 0x78E0000000000000, 0x2AB0000000000000, 0x43B441109F124804,
	0x43BE524BD49501D0, 0x0A90000000000000, 0x435F1FEBBD707F8A, 0x0070000000000000, 0x6510000000000000,
}

var probeFloats = []uint32{
	0x6A3D4C5A, 0x4CEB79A2, 0x69000000, 0x7E800000, 0x00000001, 0x00000000, 0x80000000, 0x3F800000,
	0x3DCCCCCD, 0x4048F5C3, 0x501502F9, 0x4B18967F, 0x4B189680, 0x3A83126F, 0x4B800000, 0x7F7FFFFF,
	0x00800000, 0x39800000, 0x00000002, 0x007FFFFF, 0x7F800000, 0xFF800000, 0x7FC00000, 0xD8DB76EE,
	0xDC5678C1, 0x5292AA54, 0x5B9CC727, 0x544B5495, 0x5E30808F, 0x5BA3FCE6, 0x0F800000, 0x55B535A2,
	0x00000010,
}

// ProbeValue is one entry of the corpus that shows how a JVM spells floats.
type ProbeValue struct {
	// Bits of an IEEE 754 double, or of a float in the low half.
	Bits uint64
	// Single marks a float.
	Single bool
}

// String is the line of the entry in testdata/float_probe.txt: d or f, and the bits in upper-case hex.
func (v ProbeValue) String() string {
	if v.Single {
		return fmt.Sprintf("f %08X", v.Bits)
	}
	return fmt.Sprintf("d %016X", v.Bits)
}

// text spells the value as Double.toString or Float.toString does.
func (v ProbeValue) text(spelling FloatSpelling) string {
	switch {
	case v.Single && spelling == FloatsLegacy:
		return string(appendFloatLegacy(nil, math.Float32frombits(uint32(v.Bits))))
	case v.Single:
		return string(appendFloatShortest(nil, math.Float32frombits(uint32(v.Bits))))
	case spelling == FloatsLegacy:
		return string(appendDoubleLegacy(nil, math.Float64frombits(v.Bits)))
	default:
		return string(appendDoubleShortest(nil, math.Float64frombits(v.Bits)))
	}
}

// FloatProbe returns the corpus: edges of the layout and of both types, and values that the generations of the JDK spell
// differently. The client spells it with its own JVM at the start of a session, in this order.
func FloatProbe() []ProbeValue {
	values := make([]ProbeValue, 0, len(probeDoubles)+len(probeFloats))
	for _, b := range probeDoubles {
		values = append(values, ProbeValue{Bits: b})
	}
	for _, b := range probeFloats {
		values = append(values, ProbeValue{Bits: uint64(b), Single: true})
	}
	return values
}

// ProbeText spells the corpus.
func ProbeText(spelling FloatSpelling) []string {
	values := FloatProbe()
	texts := make([]string, len(values))
	for i, v := range values {
		texts[i] = v.text(spelling)
	}
	return texts
}

// SpellingFromProbe returns the spelling that agrees with every text of the JVM. Without one the error names the entry that
// differs under the spelling that is closest; schemas with FLOAT or DOUBLE then fall back to the stock sink.
func SpellingFromProbe(jvmTexts []string) (FloatSpelling, error) {
	values := FloatProbe()
	if len(jvmTexts) != len(values) {
		return FloatsUnknown, fmt.Errorf("float probe: %d texts for a corpus of %d: client and daemon differ in version",
			len(jvmTexts), len(values))
	}
	fewest, first := len(values)+1, ""
	for _, spelling := range []FloatSpelling{FloatsLegacy, FloatsShortest} {
		differing, example := 0, ""
		for i, want := range ProbeText(spelling) {
			if jvmTexts[i] == want {
				continue
			}
			if differing++; differing == 1 {
				example = fmt.Sprintf("entry %d (%v): the JVM writes %.40q, %v writes %q", i, values[i], jvmTexts[i], spelling, want)
			}
		}
		if differing == 0 {
			return spelling, nil
		}
		if differing < fewest {
			fewest, first = differing, example
		}
	}
	return FloatsUnknown, fmt.Errorf("float probe: the JVM spells floats like no known JDK; %s", first)
}
