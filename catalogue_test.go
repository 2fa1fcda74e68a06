package penstock_test

import (
	"io/fs"
	"os"
	"regexp"
	"strings"
	"testing"
)

// table is a section of DESIGN.md whose table names the tests that hold each row.
type table struct {
	heading string
	// rows are the first cells that must be there.
	rows []string
}

var tables = []table{
	{"## What went wrong elsewhere, and what holds it here\n", strings.Fields("A1 A2 A3 A4 A5 A6 A7 A8 A9 A10 A11 A12 A13 A14 A16 " +
		"B1 B2 B3 B4 B5 B8 B9 B10 B12 B14 B15 B16 B18 B19 B21 C1 C2 C4")},
	{"## What the brokers have to show\n", strings.Fields("E1 E2 E3 E4 E5 E6 E7 E8 E9 E10")},
	{"## What goes wrong with shared memory, and what holds it here\n", strings.Fields("1 2 3 4 6 7 9 10 11 12 13 14 17 18 19 20 21 22 " +
		"23 24 26 28 29 30 31 32 33 34 35 37 38 39 41 42 43 44 46 47 48 49 50 51 52 54 55 56 57 58 59 60 62 63 64")},
	{"## Bad input\n", []string{"topic deleted in the middle", "topic deleted and created again", "right taken away in the middle",
		"row too large", "expired certificate", "wrong password of a store", "wrong credentials", "unknown topic, nobody creates it",
		"one prefix for two jobs"}},
}

var (
	// named finds `TestX`, `XTest`, `XTest.method` and `XMatrix`.
	named     = regexp.MustCompile("`(Test[A-Z]\\w*|[A-Z]\\w*(?:Test|Matrix)(?:\\.\\w+)?)`")
	goTest    = regexp.MustCompile(`(?m)^func (Test\w+)\(t \*testing\.T\)`)
	javaClass = regexp.MustCompile(`(\w+(?:Test|Matrix))\.java$`)
	javaTest  = regexp.MustCompile(`@(?:ParameterizedTest|Test)\b[^;]*?void (\w+)\(`)
)

// testNames are all tests of the tree: TestX of Go, and of Java each class and each Class.method.
func testNames(t *testing.T, root fs.FS) map[string]bool {
	t.Helper()
	names := map[string]bool{}
	err := fs.WalkDir(root, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() && (entry.Name() == "target" || entry.Name() == "build" || entry.Name() == "out") {
			return fs.SkipDir
		}
		class := javaClass.FindStringSubmatch(name)
		if class == nil && !strings.HasSuffix(name, "_test.go") {
			return nil
		}
		text, err := fs.ReadFile(root, name)
		if err != nil {
			return err
		}
		if class == nil {
			for _, m := range goTest.FindAllStringSubmatch(string(text), -1) {
				names[m[1]] = true
			}
			return nil
		}
		names[class[1]] = true
		for _, m := range javaTest.FindAllStringSubmatch(string(text), -1) {
			names[class[1]+"."+m[1]] = true
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

// TestEveryKnownFaultIsHeld: each row of a table names tests that exist, or says what makes the fault impossible.
func TestEveryKnownFaultIsHeld(t *testing.T) {
	text, err := os.ReadFile("DESIGN.md")
	if err != nil {
		t.Fatal(err)
	}
	tests := testNames(t, os.DirFS("."))
	for _, table := range tables {
		_, section, found := strings.Cut(string(text), table.heading)
		if !found {
			t.Fatalf("DESIGN.md has no section %q", table.heading)
		}
		section, _, _ = strings.Cut(section, "\n## ")
		rows := heldRows(t, section, tests)
		for _, id := range table.rows {
			if !rows[id] {
				t.Errorf("%s: no row for %s", strings.TrimSpace(table.heading), id)
			}
		}
	}
}

// heldRows are the first cells of the table in section; each names only tests that exist.
func heldRows(t *testing.T, section string, tests map[string]bool) map[string]bool {
	t.Helper()
	rows := map[string]bool{}
	for _, line := range strings.Split(section, "\n") {
		cells := strings.Split(line, "|")
		if len(cells) != 5 || strings.HasPrefix(cells[1], "-") {
			continue
		}
		id, held := strings.TrimSpace(cells[1]), strings.TrimSpace(cells[3])
		if rows[id] || held == "" {
			t.Errorf("row %s stands there twice, or without a test or a mechanism", id)
		}
		rows[id] = true
		for _, m := range named.FindAllStringSubmatch(held, -1) {
			if !tests[m[1]] {
				t.Errorf("row %s names %s, which is no test of this tree", id, m[1])
			}
		}
	}
	return rows
}
