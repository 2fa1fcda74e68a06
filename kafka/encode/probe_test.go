package encode

import (
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
)

func mustParse(t *testing.T, text string) float64 {
	t.Helper()
	v, err := strconv.ParseFloat(text, 64)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func lines(t *testing.T, file string) []string {
	t.Helper()
	b, err := os.ReadFile("testdata/" + file)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSuffix(string(b), "\n"), "\n")
}

// The client embeds the file, the daemon compiles the list in: they must be one corpus.
func TestProbeIsTheFile(t *testing.T) {
	var compiled []string
	for _, v := range FloatProbe() {
		compiled = append(compiled, v.String())
	}
	if file := lines(t, "float_probe.txt"); !slices.Equal(compiled, file) {
		t.Errorf("compiled in:\n%s\nfile:\n%s", strings.Join(compiled, "\n"), strings.Join(file, "\n"))
	}
}

// The golden files are what the two JVMs wrote.
func TestProbeText(t *testing.T) {
	for file, spelling := range map[string]FloatSpelling{
		"float_probe_jdk17.txt": FloatsLegacy, "float_probe_jdk25.txt": FloatsShortest,
	} {
		want := lines(t, file)
		got := ProbeText(spelling)
		if len(got) != len(want) {
			t.Fatalf("%s: %d texts, want %d", file, len(got), len(want))
		}
		for i := range want {
			if got[i] != want[i] {
				t.Errorf("%s, line %d: got %s, want %s", file, i+1, got[i], want[i])
			}
		}
		if found, err := SpellingFromProbe(want); err != nil || found != spelling {
			t.Errorf("%s: found %v, %v", file, found, err)
		}
	}
}

func TestSpellingFromProbeRefuses(t *testing.T) {
	texts := ProbeText(FloatsShortest)
	texts[10] = "0.10000000000000001"
	_, err := SpellingFromProbe(texts)
	want := `entry 10 (d 3FB999999999999A): the JVM writes "0.10000000000000001", JDK 19 and newer writes "0.1"`
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("got %v", err)
	}
	if _, err := SpellingFromProbe(texts[1:]); err == nil || !strings.Contains(err.Error(), "77 texts for a corpus of 78") {
		t.Errorf("got %v", err)
	}
}

func TestSpellingForFeature(t *testing.T) {
	for feature, want := range map[int]FloatSpelling{8: FloatsLegacy, 17: FloatsLegacy, 18: FloatsLegacy, 19: FloatsShortest, 25: FloatsShortest} {
		if got, err := SpellingForFeature(feature); err != nil || got != want {
			t.Errorf("%d: got %v, %v", feature, got, err)
		}
	}
	if _, err := SpellingForFeature(0); err == nil {
		t.Error("feature 0 was accepted")
	}
}
