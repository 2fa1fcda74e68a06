// Package penstock_test holds the repository to its own rules: who may import whom (DESIGN, Repository), where unsafe may
// stand, how large a file may be, and that what is exported is documented.
package penstock_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

const (
	module        = "penstock.dev/penstock"
	maxLines      = 800
	minDocumented = 0.95
)

// arrow forbids the packages below from to reach the packages below to, directly or through others.
type arrow struct {
	from, to string
	except   []string // folders that to would cover and that are allowed
}

// "." is all of Penstock.
var arrows = []arrow{
	{"columnar", ".", []string{"columnar"}},
	{"shm", ".", []string{"shm"}},
	{"memctl", ".", []string{"memctl", "shm"}},
	{"kafka", "shm", nil},
	{"kafka", "memctl", nil},
	{"proto", ".", []string{"proto"}},
}

// onlyIn says which folder alone may import a package, tests included.
var onlyIn = map[string]string{
	"github.com/confluentinc/confluent-kafka-go": "kafka/producer/rdkafka",
	"C": "kafka/producer/rdkafka",
}

// source is one parsed file.
type source struct {
	name      string
	lines     int
	generated bool
	test      bool
	ast       *ast.File
}

func (s *source) imports() []string {
	var paths []string
	for _, spec := range s.ast.Imports {
		paths = append(paths, strings.Trim(spec.Path.Value, `"`))
	}
	return paths
}

// tree is all Go source, by folder.
type tree map[string][]*source

func readTree(root fs.FS) (tree, error) {
	t := tree{}
	err := fs.WalkDir(root, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		base := entry.Name()
		if entry.IsDir() {
			if name != "." && (strings.HasPrefix(base, ".") || slices.Contains([]string{"testdata", "target", "out", "build"}, base)) {
				return fs.SkipDir
			}
			return nil
		}
		if path.Ext(base) != ".go" {
			return nil
		}
		text, err := fs.ReadFile(root, name)
		if err != nil {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, text, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		dir := path.Dir(name)
		t[dir] = append(t[dir], &source{name, strings.Count(string(text), "\n"), ast.IsGenerated(file),
			strings.HasSuffix(base, "_test.go"), file})
		return nil
	})
	return t, err
}

// below tells whether a folder is another or lies in it.
func below(dir, top string) bool {
	return top == "." || dir == top || strings.HasPrefix(dir, top+"/")
}

// ours is the folder of an import path of this module.
func ours(importPath string) (string, bool) {
	return strings.CutPrefix(importPath, module+"/")
}

// reach adds to seen every folder that dir imports, directly or through others; tests count only where asked.
func (t tree) reach(dir string, tests bool, seen map[string]string) {
	for _, s := range t[dir] {
		if s.test && !tests {
			continue
		}
		for _, p := range s.imports() {
			if target, ok := ours(p); ok && seen[target] == "" {
				seen[target] = s.name
				t.reach(target, false, seen)
			}
		}
	}
}

// lint is every breach of the rules, one a line.
func lint(t tree) []string {
	var faults []string
	fault := func(format string, args ...any) { faults = append(faults, fmt.Sprintf(format, args...)) }
	exported, documented := 0, 0
	var bare []string
	for dir, sources := range t {
		checkArrows(t, dir, fault)
		hasComment, needsComment := false, false
		for _, s := range sources {
			if s.generated {
				continue
			}
			checkFile(dir, s, fault)
			needsComment = true
			hasComment = hasComment || s.ast.Doc != nil
			if s.test {
				continue
			}
			n, undocumented := exportedNames(s)
			exported += n
			documented += n - len(undocumented)
			bare = append(bare, undocumented...)
		}
		if needsComment && !hasComment {
			fault("%s: the package has no comment", dir)
		}
	}
	if float64(documented) < minDocumented*float64(exported) {
		fault("%d of %d exported names are documented, too few; without: %s", documented, exported, strings.Join(bare, ", "))
	}
	slices.Sort(faults)
	return faults
}

func checkArrows(t tree, dir string, fault func(string, ...any)) {
	reached := map[string]string{}
	t.reach(dir, true, reached)
	for target, via := range reached {
		for _, a := range arrows {
			allowed := slices.ContainsFunc(a.except, func(top string) bool { return below(target, top) })
			if below(dir, a.from) && below(target, a.to) && !allowed {
				fault("%s: must not depend on %s (imported by %s)", dir, target, via)
			}
		}
		if below(target, "daemon") && !below(dir, "daemon") {
			fault("%s: only daemon may depend on %s (imported by %s)", dir, target, via)
		}
	}
}

func checkFile(dir string, s *source, fault func(string, ...any)) {
	if s.lines > maxLines {
		fault("%s: %d lines, the limit is %d", s.name, s.lines, maxLines)
	}
	for _, p := range s.imports() {
		for guarded, home := range onlyIn {
			if below(p, guarded) && !below(dir, home) {
				fault("%s: only %s may import %q", s.name, home, p)
			}
		}
		if p == "unsafe" && !strings.HasSuffix(s.name, "_unsafe.go") && !below(dir, "kafka/producer/rdkafka") {
			fault("%s: unsafe stands in files named *_unsafe.go", s.name)
		}
	}
}

// exportedNames counts the exported top-level names and methods of a file, and lists those without a comment. One comment
// on a group of constants or variables is enough for the group.
func exportedNames(s *source) (count int, bare []string) {
	add := func(name *ast.Ident, documented bool) {
		if !name.IsExported() {
			return
		}
		count++
		if !documented {
			bare = append(bare, s.name+": "+name.Name)
		}
	}
	for _, decl := range s.ast.Decls {
		switch d := decl.(type) {
		case *ast.FuncDecl:
			if d.Recv == nil || ast.IsExported(receiver(d.Recv.List[0].Type)) {
				add(d.Name, d.Doc != nil)
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				switch spec := spec.(type) {
				case *ast.TypeSpec:
					add(spec.Name, d.Doc != nil || spec.Doc != nil)
				case *ast.ValueSpec:
					for _, name := range spec.Names {
						add(name, d.Doc != nil || spec.Doc != nil || spec.Comment != nil)
					}
				}
			}
		}
	}
	return count, bare
}

// receiver is the type name of a method's receiver.
func receiver(t ast.Expr) string {
	switch t := t.(type) {
	case *ast.StarExpr:
		return receiver(t.X)
	case *ast.IndexExpr:
		return receiver(t.X)
	case *ast.IndexListExpr:
		return receiver(t.X)
	case *ast.Ident:
		return t.Name
	}
	return ""
}

func TestRepositoryKeepsItsRules(t *testing.T) {
	sources, err := readTree(os.DirFS("."))
	if err != nil {
		t.Fatal(err)
	}
	if len(sources["shm"]) == 0 {
		t.Fatal("found no sources: the test must run at the root of the repository")
	}
	for _, fault := range lint(sources) {
		t.Error(fault)
	}
}

// Every rule must be able to fail.
func TestLintFindsBreaches(t *testing.T) {
	for _, c := range []struct {
		name  string
		files map[string]string
		want  string // part of the one fault; empty: none
	}{
		{"clean", map[string]string{
			"memctl/a.go":     "// Package memctl is.\npackage memctl\nimport _ \"penstock.dev/penstock/shm\"\n// A is.\nconst A = 1\n",
			"shm/x_unsafe.go": "// Package shm is.\npackage shm\nimport _ \"unsafe\"\n",
			"shm/x_test.go":   "package shm\nimport _ \"penstock.dev/penstock/shm/shmtest\"\n",
		}, ""},
		{"direct", map[string]string{
			"kafka/encode/a.go": "// Package encode is.\npackage encode\nimport _ \"penstock.dev/penstock/shm\"\n",
		}, "kafka/encode: must not depend on shm"},
		{"out of a leaf", map[string]string{
			"memctl/a.go": "// Package memctl is.\npackage memctl\nimport _ \"penstock.dev/penstock/columnar\"\n",
		}, "memctl: must not depend on columnar"},
		{"through another", map[string]string{
			"kafka/a.go": "// Package kafka is.\npackage kafka\nimport _ \"penstock.dev/penstock/other\"\n",
			"other/a.go": "// Package other is.\npackage other\nimport _ \"penstock.dev/penstock/memctl\"\n",
		}, "kafka: must not depend on memctl (imported by other/a.go)"},
		{"by a test", map[string]string{
			"columnar/a.go":      "// Package columnar is.\npackage columnar\n",
			"columnar/a_test.go": "package columnar\nimport _ \"penstock.dev/penstock/shm\"\n",
		}, "columnar: must not depend on shm"},
		{"daemon", map[string]string{
			"tools/a.go": "// Package tools is.\npackage tools\nimport _ \"penstock.dev/penstock/daemon/config\"\n",
		}, "tools: only daemon may depend on daemon/config"},
		{"one importer", map[string]string{
			"kafka/a.go": "// Package kafka is.\npackage kafka\nimport _ \"github.com/confluentinc/confluent-kafka-go/v2/kafka\"\n",
		}, "only kafka/producer/rdkafka may import"},
		{"cgo", map[string]string{
			"shm/a.go": "// Package shm is.\npackage shm\nimport \"C\"\n",
		}, `may import "C"`},
		{"unsafe", map[string]string{
			"shm/a.go": "// Package shm is.\npackage shm\nimport _ \"unsafe\"\n",
		}, "*_unsafe.go"},
		{"generated", map[string]string{
			"proto/a.go": "// Code generated by x. DO NOT EDIT.\n\npackage proto\nimport _ \"unsafe\"\n" + strings.Repeat("\n", maxLines),
		}, ""},
		{"no comment", map[string]string{"a/a.go": "package a\n"}, "a: the package has no comment"},
		{"long", map[string]string{"a/a.go": "// Package a is.\npackage a\n" + strings.Repeat("\n", maxLines)}, "802 lines"},
		{"undocumented", map[string]string{
			"a/a.go": "// Package a is.\npackage a\ntype T struct{}\nfunc (*T) M() {}\nfunc (t) N() {}\ntype t int\n",
		}, "0 of 2 exported names"},
	} {
		t.Run(c.name, func(t *testing.T) {
			files := fstest.MapFS{}
			for name, text := range c.files {
				files[name] = &fstest.MapFile{Data: []byte(text)}
			}
			sources, err := readTree(files)
			if err != nil {
				t.Fatal(err)
			}
			faults := lint(sources)
			if c.want == "" && len(faults) == 0 {
				return
			}
			if len(faults) != 1 || c.want == "" || !strings.Contains(faults[0], c.want) {
				t.Errorf("got %q, want %q", faults, c.want)
			}
		})
	}
}
