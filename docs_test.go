package penstock_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	// title is a heading of docs/troubleshooting.md that quotes a message.
	title = regexp.MustCompile("(?m)^### `(.*)`$")
	// joined finds the seam between two literals of one message, with a value between them or none. Format verbs and a logger's {} are
	// values, too.
	joined   = regexp.MustCompile(`"\s*\+\s*"`)
	inserted = regexp.MustCompile(`"\s*\+[^";]+\+\s*"`)
	verb     = regexp.MustCompile(`%(?:\[\d+\])?[-+#0]*\d*[a-z]|\{\}`)
	// figure is a number of at least two digits.
	figure = regexp.MustCompile(`\d[\d,.]*\d`)
	// page is the name of a guide.
	page = regexp.MustCompile(`docs/[a-z-]+\.md`)
	// option is a table option or key of Penstock between backticks or quotes.
	option = regexp.MustCompile("[`']+(penstock\\.[a-z.-]+)['`]")
)

// guides are README.md and the pages below docs, by name.
func guides(t *testing.T) map[string]string {
	t.Helper()
	names, err := filepath.Glob("docs/*.md")
	if err != nil || len(names) < 5 {
		t.Fatalf("found only %v: %v", names, err)
	}
	texts := map[string]string{}
	for _, name := range append(names, "README.md", "examples/README.md") {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		texts[name] = string(text)
	}
	return texts
}

// messages is a source file with "..." in the place of each value that a message gets.
func messages(source string) string {
	source = joined.ReplaceAllString(source, "")
	source = inserted.ReplaceAllString(source, "...")
	return strings.ReplaceAll(verb.ReplaceAllString(source, "..."), `\"`, `"`)
}

// productMessages are the messages of all sources but the tests.
func productMessages(t *testing.T) []string {
	t.Helper()
	var all []string
	err := fs.WalkDir(os.DirFS("."), ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			if slices.Contains([]string{"target", "build", "out", "integration", "test", ".git"}, entry.Name()) {
				return fs.SkipDir
			}
			return nil
		}
		goSource := strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, "_test.go")
		if !goSource && !strings.HasSuffix(name, ".java") {
			return nil
		}
		text, err := os.ReadFile(name)
		all = append(all, messages(string(text)))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// TestTroubleshootingQuotesMessages: whoever searches the guide for what a log says must find it, so each title stands in a source.
func TestTroubleshootingQuotesMessages(t *testing.T) {
	titles := title.FindAllStringSubmatch(guides(t)["docs/troubleshooting.md"], -1)
	if len(titles) < 30 {
		t.Fatalf("only %d messages in docs/troubleshooting.md", len(titles))
	}
	sources := productMessages(t)
	for _, m := range titles {
		if !slices.ContainsFunc(sources, func(text string) bool { return strings.Contains(text, m[1]) }) {
			t.Errorf("no source has the message %q", m[1])
		}
	}
}

// TestTuningHasTheFiguresOfTheDesign: the guide measures nothing of its own.
func TestTuningHasTheFiguresOfTheDesign(t *testing.T) {
	design, err := os.ReadFile("DESIGN.md")
	if err != nil {
		t.Fatal(err)
	}
	measured := figure.FindAllString(string(design), -1)
	figures := figure.FindAllString(guides(t)["docs/tuning.md"], -1)
	if len(figures) < 30 {
		t.Fatalf("only the figures %v", figures)
	}
	for _, f := range figures {
		if !slices.Contains(measured, f) {
			t.Errorf("docs/tuning.md has the figure %s, which DESIGN.md has not", f)
		}
	}
}

// TestGuidesNameWhatExists: pages, options and tests that a guide names.
func TestGuidesNameWhatExists(t *testing.T) {
	source, err := os.ReadFile(optionsSource)
	if err != nil {
		t.Fatal(err)
	}
	writers, err := os.ReadFile("client-java/flink-sink/src/main/java/dev/penstock/flink/sink/WriterMetrics.java")
	if err != nil {
		t.Fatal(err)
	}
	tests, texts := testNames(t, os.DirFS(".")), guides(t)
	for name, text := range texts {
		for _, m := range page.FindAllString(text, -1) {
			if texts[m] == "" {
				t.Errorf("%s names %s, which does not exist", name, m)
			}
		}
		for _, m := range named.FindAllStringSubmatch(text, -1) {
			if !tests[m[1]] {
				t.Errorf("%s names %s, which is no test of this tree", name, m[1])
			}
		}
		for _, m := range option.FindAllStringSubmatch(text, -1) {
			_, last, _ := strings.Cut(m[1], ".")
			if !strings.Contains(string(source), `"`+m[1]+`"`) && !knownMetric(t, last, string(writers)) {
				t.Errorf("%s names %s, which is neither an option nor a metric", name, m[1])
			}
		}
	}
	if !strings.Contains(texts["README.md"], "docs/troubleshooting.md") {
		t.Error("README.md does not lead to docs/troubleshooting.md")
	}
}

// knownMetric tells whether a class of the sink registers a metric of this name in the group penstock.
func knownMetric(t *testing.T, name, writers string) bool {
	if strings.Contains(writers, `"`+name+`"`) {
		return true
	}
	for _, class := range []string{"NativeMemoryMetrics", "RefusedCommits"} {
		text, err := os.ReadFile("client-java/flink-sink/src/main/java/dev/penstock/flink/sink/" + class + ".java")
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(text), `"`+name+`"`) {
			return true
		}
	}
	return false
}
