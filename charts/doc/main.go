// Command doc writes what follows from the chart's values.yaml: values.schema.json, which knows no other key, and the table of
// README.md. With -check it changes nothing and fails when one of them is not what it would write.
package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"gopkg.in/yaml.v3"
)

// Marks of the table in README.md.
const (
	tableBegin = "<!-- values: begin -->\n"
	tableEnd   = "<!-- values: end -->\n"
)

func main() {
	check := flag.Bool("check", false, "change nothing, fail on drift")
	flag.Parse()
	if err := run(flag.Arg(0), *check); err != nil {
		fmt.Fprintln(os.Stderr, "doc:", err)
		os.Exit(1)
	}
}

func run(chart string, check bool) error {
	text, err := os.ReadFile(filepath.Join(chart, "values.yaml"))
	if err != nil {
		return err
	}
	root, err := parse(text)
	if err != nil {
		return fmt.Errorf("values.yaml: %w", err)
	}
	schema, err := root.schema()
	if err != nil {
		return err
	}
	readmePath := filepath.Join(chart, "README.md")
	readme, err := os.ReadFile(readmePath)
	if err != nil {
		return err
	}
	table, err := replaceTable(string(readme), root.table())
	if err != nil {
		return err
	}
	for path, want := range map[string][]byte{filepath.Join(chart, "values.schema.json"): schema, readmePath: []byte(table)} {
		got, _ := os.ReadFile(path)
		if bytes.Equal(got, want) {
			continue
		}
		if check {
			return fmt.Errorf("%s is not what values.yaml says: run 'make chart-docs' and commit the result", path)
		}
		if err := os.WriteFile(path, want, 0o644); err != nil {
			return err
		}
	}
	return nil
}

func replaceTable(readme, table string) (string, error) {
	before, rest, begun := strings.Cut(readme, tableBegin)
	_, after, ended := strings.Cut(rest, tableEnd)
	if !begun || !ended {
		return "", fmt.Errorf("README.md has no lines %q and %q", strings.TrimSpace(tableBegin), strings.TrimSpace(tableEnd))
	}
	return before + tableBegin + table + tableEnd + after, nil
}

// value is one key of values.yaml; those with fields are objects that know no other key.
type value struct {
	path        string
	description string
	// extra is what the line "schema:" of the comment adds.
	extra  map[string]any
	node   *yaml.Node
	fields []*value
}

func parse(text []byte) (*value, error) {
	var document yaml.Node
	if err := yaml.Unmarshal(text, &document); err != nil {
		return nil, err
	}
	root := &value{node: document.Content[0]}
	return root, root.readFields()
}

func (v *value) readFields() error {
	for i := 0; i < len(v.node.Content); i += 2 {
		key, node := v.node.Content[i], v.node.Content[i+1]
		f := &value{path: strings.TrimPrefix(v.path+"."+key.Value, "."), node: node}
		if err := f.readComment(key.HeadComment); err != nil {
			return fmt.Errorf("%s: %w", f.path, err)
		}
		if node.Kind == yaml.MappingNode && len(node.Content) > 0 {
			if err := f.readFields(); err != nil {
				return err
			}
		} else if f.description == "" {
			return fmt.Errorf("%s: has no comment", f.path)
		}
		v.fields = append(v.fields, f)
	}
	return nil
}

func (v *value) readComment(comment string) error {
	var words []string
	for _, line := range strings.Split(comment, "\n") {
		line = strings.TrimSpace(strings.TrimPrefix(line, "#"))
		if text, found := strings.CutPrefix(line, "schema:"); found {
			if err := json.Unmarshal([]byte(text), &v.extra); err != nil {
				return fmt.Errorf("schema: %w", err)
			}
			continue
		}
		if line != "" {
			words = append(words, line)
		}
	}
	v.description = strings.Join(words, " ")
	return nil
}

// schemaType is JSON Schema's name for the type of the default.
func (v *value) schemaType() (string, error) {
	switch {
	case v.node.Kind == yaml.MappingNode:
		return "object", nil
	case v.node.Kind == yaml.SequenceNode:
		return "array", nil
	}
	if name := map[string]string{"!!str": "string", "!!int": "integer", "!!bool": "boolean"}[v.node.Tag]; name != "" {
		return name, nil
	}
	return "", fmt.Errorf("%s: a default of type %s has no place here", v.path, v.node.Tag)
}

func (v *value) properties() (map[string]any, error) {
	p := map[string]any{}
	if v.description != "" {
		p["description"] = v.description
	}
	kind, err := v.schemaType()
	if err != nil {
		return nil, err
	}
	p["type"] = kind
	for name, x := range v.extra {
		p[name] = x
	}
	if len(v.fields) == 0 {
		if kind == "object" && p["additionalProperties"] == nil {
			return nil, fmt.Errorf("%s: say by schema: {\"additionalProperties\": ...} what it may hold", v.path)
		}
		var def any
		if err := v.node.Decode(&def); err != nil {
			return nil, err
		}
		p["default"] = def
		return p, nil
	}
	fields, required := map[string]any{}, []string{}
	for _, f := range v.fields {
		name := f.path[strings.LastIndex(f.path, ".")+1:]
		if fields[name], err = f.properties(); err != nil {
			return nil, err
		}
		required = append(required, name)
	}
	p["properties"], p["required"], p["additionalProperties"] = fields, required, false
	return p, nil
}

// schema is the text of values.schema.json.
func (v *value) schema() ([]byte, error) {
	p, err := v.properties()
	if err != nil {
		return nil, err
	}
	p["$schema"] = "http://json-schema.org/draft-07/schema#"
	// Helm hands the globals of a parent chart to each of its parts.
	p["properties"].(map[string]any)["global"] = map[string]any{"type": "object", "additionalProperties": true,
		"description": "Of a parent chart; unused."}
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetIndent("", "  ")
	encoder.SetEscapeHTML(false)
	err = encoder.Encode(p)
	return out.Bytes(), err
}

// table is the Markdown table of all values.
func (v *value) table() string {
	var b strings.Builder
	b.WriteString("| value | default | meaning |\n|---|---|---|\n")
	v.rows(&b)
	return b.String()
}

func (v *value) rows(b *strings.Builder) {
	for _, f := range v.fields {
		if len(f.fields) > 0 {
			f.rows(b)
			continue
		}
		def, _ := json.Marshal(decoded(f.node))
		fmt.Fprintf(b, "| `%s` | `%s` | %s |\n", f.path, def, strings.ReplaceAll(f.description, "|", `\|`))
	}
}

func decoded(node *yaml.Node) (x any) {
	_ = node.Decode(&x)
	return x
}
