package penstock_test

import (
	"flag"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
)

const (
	optionsSource = "client-java/flink-table/src/main/java/dev/penstock/flink/table/PenstockOptions.java"
	optionsTexts  = "client-java/flink-sink/src/main/java/dev/penstock/flink/sink/WriterSettings.java"
	daemonSource  = "daemon/config/penstockd.toml"
	configuration = "docs/configuration.md"
)

// update writes docs/configuration.md instead of comparing it; `make configuration-docs` sets it.
var update = flag.Bool("update", false, "write "+configuration)

var (
	// optionBlock is the definition of one option in PenstockOptions.
	optionBlock = regexp.MustCompile(`(?s)ConfigOptions\.key\("([^"]+)"\)\s*\.(\w+)Type\([^)]*\)\s*\.(\w+)\((.*?)\)\s*\.withDescription\((.*?)\);`)
	// wordParts are the literals and names of constants that a description is joined of.
	wordParts   = regexp.MustCompile(`"((?:[^"\\]|\\.)*)"|WriterSettings\.(\w+)`)
	constant    = regexp.MustCompile(`String (\w+) = "([^"]+)"`)
	duration    = regexp.MustCompile(`Duration\.of(Millis|Seconds)\((\d+)\)`)
	enumValue   = regexp.MustCompile(`\w+\.([A-Z_]+)`)
	daemonTable = regexp.MustCompile(`^\[(\w+)\]$`)
	daemonKey   = regexp.MustCompile(`^(\w+) = (.*)$`)
)

// optionRows is the table of PenstockOptions.
func optionRows(source, texts string) string {
	constants := map[string]string{}
	for _, m := range constant.FindAllStringSubmatch(texts, -1) {
		constants[m[1]] = m[2]
	}
	var b strings.Builder
	for _, m := range optionBlock.FindAllStringSubmatch(source, -1) {
		def := ""
		if m[3] == "defaultValue" {
			def = "`" + javaDefault(m[4]) + "`"
		}
		var words strings.Builder
		for _, part := range wordParts.FindAllStringSubmatch(m[5], -1) {
			words.WriteString(part[1] + constants[part[2]])
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", m[1], strings.ToLower(m[2]), def, words.String())
	}
	return b.String()
}

// javaDefault is a default as a user writes it.
func javaDefault(code string) string {
	if m := duration.FindStringSubmatch(code); m != nil {
		return m[2] + map[string]string{"Millis": " ms", "Seconds": " s"}[m[1]]
	}
	if m := enumValue.FindStringSubmatch(code); m != nil {
		return strings.ToLower(m[1])
	}
	return code
}

// daemonRows is one table for each section of penstockd.toml, whose comments are the meanings.
func daemonRows(sample string) string {
	var b strings.Builder
	var words []string
	table, last := "", ""
	for line := range strings.Lines(sample) {
		line = strings.TrimSpace(line)
		comment, isComment := strings.CutPrefix(line, "#")
		if isComment {
			words = append(words, strings.TrimSpace(comment))
			continue
		}
		if m := daemonTable.FindStringSubmatch(line); m != nil {
			table = m[1] + "."
			fmt.Fprintf(&b, "\n### %s\n\n| key | default | meaning |\n|---|---|---|\n", m[1])
		} else if m := daemonKey.FindStringSubmatch(line); m != nil && table != "" {
			meaning := strings.Join(words, " ")
			if meaning == "" {
				meaning = "see `" + last + "`"
			}
			last = table + m[1]
			fmt.Fprintf(&b, "| `%s` | `%s` | %s |\n", last, m[2], strings.ReplaceAll(meaning, "|", `\|`))
		}
		words = nil
	}
	return b.String()
}

// configurationPage is docs/configuration.md as the sources have it.
func configurationPage(t *testing.T) string {
	t.Helper()
	read := func(name string) string {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	options, keys := optionRows(read(optionsSource), read(optionsTexts)), daemonRows(read(daemonSource))
	if strings.Count(options, "\n") != strings.Count(read(optionsSource), "ConfigOptions.key(") {
		t.Fatalf("not every option of %s was understood:\n%s", optionsSource, options)
	}
	return "# Configuration\n\nWritten by `make configuration-docs` from `PenstockOptions.java` and `" + daemonSource + "`; change those.\n\n" +
		"## Options of a table\n\nBeside those of the stock connector, all optional. What a table does not set, the session does (`SET`), else\n" +
		"Flink's configuration; see `docs/adoption.md`.\n\n| option | type | default | meaning |\n|---|---|---|---|\n" + options +
		"\n## The daemon\n\n`penstockd run --config FILE`; every key is optional, an unknown one is refused. `penstockd validate --config FILE` prints what\n" +
		"would be used. The Helm chart's values are in `charts/penstock/README.md`.\n" + keys
}

// TestConfigurationIsDocumented compares docs/configuration.md with the sources it is made of.
func TestConfigurationIsDocumented(t *testing.T) {
	want := configurationPage(t)
	if *update {
		if err := os.WriteFile(configuration, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	got, err := os.ReadFile(configuration)
	if err != nil || string(got) != want {
		t.Errorf("%s is not what the sources say (%v): run 'make configuration-docs' and commit the result", configuration, err)
	}
	for _, part := range []string{"| `penstock.fallback` | enum | `stock` |", "| `penstock.linger` | duration | `10 ms` |",
		"PENSTOCK_SOCKET_DIR of the TaskManager, else /run/penstock.", "| `listen.session_socket` | `\"session.sock\"` | Socket for sessions",
		"| `listen.api_socket` | `\"api.sock\"` | see `listen.session_socket` |", "| `log.format` |"} {
		if !strings.Contains(want, part) {
			t.Errorf("the page lacks %q", part)
		}
	}
}
