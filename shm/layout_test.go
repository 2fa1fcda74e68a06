package shm

import (
	"os"
	"regexp"
	"strconv"
	"testing"
)

func TestLayoutEqualsGolden(t *testing.T) {
	golden, err := os.ReadFile("testdata/layout.golden")
	if err != nil {
		t.Fatal(err)
	}
	if got := LayoutText(); got != string(golden) {
		t.Errorf("layout.go renders\n%s\ntestdata/layout.golden has\n%s", got, golden)
	}
}

// The pictures are written by hand; what they promise must add up.
func TestLayoutIsSound(t *testing.T) {
	if ownerBits+stateBits+generationBits != 64 {
		t.Error("the state word has not 64 bits")
	}
	if SlotCRC+4 != SlotBytes || segPressure%8 != 0 || segCRC+4 > segPressure || segPressure+8 > SegmentHeaderBytes {
		t.Error("a checksum lies outside")
	}
	text, err := os.ReadFile("LAYOUT.md")
	if err != nil {
		t.Fatal(err)
	}
	m := regexp.MustCompile(`# Layout of shared memory, version (\d+)`).FindSubmatch(text)
	if m == nil || string(m[1]) != strconv.Itoa(LayoutVersion) {
		t.Errorf("LAYOUT.md is of another version than %d", LayoutVersion)
	}
}
