package encode

import (
	"fmt"
	"regexp"
	"strings"

	"penstock.dev/penstock/columnar"
)

// Dialect is what the client's process, and not an option, decides about bytes.
type Dialect struct {
	Line   FlinkLine
	Floats FloatSpelling
}

// FlinkLine is a line of Flink releases with one shaded Jackson, whose formats write the same bytes.
type FlinkLine uint8

// The lines that the encoders have been compared with. The zero value is refused where the lines differ.
const (
	LineUnknown FlinkLine = iota
	// Line20 is Flink 2.0.x with Jackson 2.15.3.
	Line20
	// Line21 is Flink 2.1.x with Jackson 2.18.2.
	Line21
	// Line22 is Flink 2.2.x with Jackson 2.18.2.
	Line22
	// Line23 is Flink 2.3.x with Jackson 2.20.1.
	Line23
)

// releases are the known ones, by FlinkLine - 1.
var releases = [...]struct{ flink, jackson string }{
	{"2.0", "2.15.3"}, {"2.1", "2.18.2"}, {"2.2", "2.18.2"}, {"2.3", "2.20.1"},
}

// releaseOf finds the line in the version of a release; a snapshot, a candidate and a vendor's build have none.
var releaseOf = regexp.MustCompile(`^(\d+\.\d+)\.\d+$`)

// LineOf returns the line of a Flink version, for example 2.2.1, and of the Jackson that it shades. The error says what is known;
// the caller falls back to the stock sink.
func LineOf(flink, jackson string) (FlinkLine, error) {
	match := releaseOf.FindStringSubmatch(flink)
	for i, l := range releases {
		switch {
		case match == nil || match[1] != l.flink:
		case jackson != l.jackson:
			return LineUnknown, fmt.Errorf("Flink %s with the shaded Jackson %q: its bytes are known with Jackson %s only",
				flink, jackson, l.jackson)
		default:
			return FlinkLine(i + 1), nil
		}
	}
	return LineUnknown, fmt.Errorf("the bytes of Flink %q are not known; known are the releases of %s", flink, knownLines())
}

func knownLines() string {
	var known []string
	for _, l := range releases {
		known = append(known, l.flink)
	}
	return strings.Join(known, ", ")
}

// String is the line as people write it, for example 2.2.
func (l FlinkLine) String() string {
	if l == LineUnknown || int(l) > len(releases) {
		return "unknown"
	}
	return releases[l-1].flink
}

func (l FlinkLine) validate() error {
	if int(l) > len(releases) {
		return fmt.Errorf("line of Flink: unknown value %d: use one of %s", uint8(l), knownLines())
	}
	return nil
}

// wantLine refuses a type that the lines write differently when the line is not known.
func wantLine(l FlinkLine, format string, kind columnar.Kind, columns []node) error {
	if l != LineUnknown {
		return nil
	}
	if path, found := pathOf(kind, columns); found {
		return fmt.Errorf("%s: column %q is %v and the line of Flink is not known, which decides how it is written", format, path, kind)
	}
	return nil
}

// pathOf finds the first node of a kind.
func pathOf(kind columnar.Kind, nodes []node) (path string, found bool) {
	for i := range nodes {
		if nodes[i].kind == kind {
			return nodes[i].path, true
		}
		if path, found = pathOf(kind, nodes[i].children); found {
			return path, true
		}
	}
	return "", false
}
