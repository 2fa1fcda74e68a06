package charts

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"helm.sh/helm/v3/pkg/chartutil"
)

// TestWrongValuesAreRefused: with the schema's own message, or the chart's where values contradict each other.
func TestWrongValuesAreRefused(t *testing.T) {
	for _, test := range []struct {
		set  map[string]any
		want string
	}{
		{map[string]any{"mode": "deployment"}, "mode"},
		{map[string]any{"mod": "sidecar"}, "additional properties 'mod' not allowed"},
		{map[string]any{"arena": map[string]any{"capacity": "512MiB"}}, "additional properties 'capacity' not allowed"},
		{map[string]any{"arena": map[string]any{"capacityMiB": "512"}}, "got string, want integer"},
		{map[string]any{"arena": map[string]any{"segmentMiB": 2048}}, "maximum"},
		{map[string]any{"arena": map[string]any{"segmentMiB": 512, "capacityMiB": 256}}, "arena.segmentMiB = 512 is larger than arena.capacityMiB = 256"},
		{map[string]any{"arena": map[string]any{"warmSegments": 17}}, "arena.warmSegments = 17 segments of 32 MiB do not fit"},
		{map[string]any{"user": map[string]any{"uid": 0}}, "minimum"},
		{map[string]any{"image": map[string]any{"digest": "latest"}}, "does not match pattern"},
		{map[string]any{"cpu": map[string]any{"request": "much"}}, "does not match pattern"},
		{map[string]any{"daemonset": map[string]any{"hostPath": "run"}}, "does not match pattern"},
		{map[string]any{"daemonset": map[string]any{"updateStrategy": map[string]any{"type": "Never"}}}, "updateStrategy"},
		{map[string]any{"sidecar": map[string]any{"podDisruptionBudget": map[string]any{"maxUnavailable": "half"}}}, "does not match pattern"},
		{map[string]any{"metrics": map[string]any{"enabled": false, "serviceMonitor": map[string]any{"enabled": true}}}, "needs metrics.enabled = true"},
		{map[string]any{"commonLabels": map[string]any{"a": 1}}, "got number, want string"},
		{map[string]any{"imagePullSecrets": []any{map[string]any{"name": "x"}}}, "got object, want string"},
	} {
		_, err := render(load(t), test.set)
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%v: got %v, want %q", test.set, err, test.want)
		}
	}
}

// schema is a part of values.schema.json.
type schema = map[string]any

func readSchema(t *testing.T) schema {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(folder, "values.schema.json"))
	if err != nil {
		t.Fatal(err)
	}
	var s schema
	if err := json.Unmarshal(text, &s); err != nil {
		t.Fatal(err)
	}
	return s
}

// leaves calls visit for each value that is no object of known keys.
func leaves(s schema, path string, visit func(path string, s schema)) {
	properties, _ := s["properties"].(schema)
	for name, p := range properties {
		at := strings.TrimPrefix(path+"."+name, ".")
		if sub := p.(schema); sub["properties"] != nil {
			leaves(sub, at, visit)
		} else if at != "global" {
			visit(at, sub)
		}
	}
}

func TestEverySchemaObjectIsClosed(t *testing.T) {
	var walk func(s schema, path string)
	walk = func(s schema, path string) {
		if s["type"] == "object" && s["additionalProperties"] == nil {
			t.Errorf("%s: is open", path)
		}
		properties, _ := s["properties"].(schema)
		if properties != nil && s["additionalProperties"] != false {
			t.Errorf("%s: takes keys that nobody reads", path)
		}
		for name, p := range properties {
			walk(p.(schema), path+"."+name)
		}
	}
	walk(readSchema(t), "")
}

// other is a legal value that differs from the default.
func other(t *testing.T, path string, s schema) any {
	t.Helper()
	if samples := map[string]any{
		"image.digest": "sha256:" + strings.Repeat("1", 64), "cpu.request": "7", "cpu.limit": "7", "daemonset.hostPath": "/other",
		"daemonset.affinity": map[string]any{"podAffinity": map[string]any{}}, "daemonset.tolerations": []any{map[string]any{"operator": "Exists"}},
	}; samples[path] != nil {
		return samples[path]
	}
	if choices, _ := s["enum"].([]any); choices != nil {
		for _, choice := range choices {
			if choice != s["default"] {
				return choice
			}
		}
	}
	switch def := s["default"].(type) {
	case bool:
		return !def
	case float64:
		return int(def) + 1
	case string:
		return "other"
	case []any:
		return []any{"other"}
	case map[string]any:
		return map[string]any{"other": "value"}
	}
	t.Fatalf("%s: no other value for %v", path, s)
	return nil
}

// with is a copy of values with one of them changed.
func with(values map[string]any, path string, to any) map[string]any {
	changed := map[string]any{}
	for name, value := range values {
		changed[name] = value
	}
	name, rest, deeper := strings.Cut(path, ".")
	if deeper {
		sub, _ := changed[name].(map[string]any)
		to = with(sub, rest, to)
	}
	changed[name] = to
	return changed
}

// TestEveryValueDoesSomething: another value changes what is rendered, in one of the variants at least.
func TestEveryValueDoesSomething(t *testing.T) {
	chart, all := load(t), variants(t)
	// Room for one more of everything.
	for name, values := range all {
		all[name] = with(values, "arena.capacityMiB", 16384)
	}
	count := 0
	leaves(readSchema(t), "", func(path string, s schema) {
		count++
		value := other(t, path, s)
		for _, values := range all {
			before, err := render(chart, values)
			if err != nil {
				t.Fatal(err)
			}
			after, err := render(chart, with(values, path, value))
			if err == nil && !reflect.DeepEqual(before, after) {
				return
			}
		}
		t.Errorf("%s = %v changes nothing", path, value)
	})
	if count < 30 {
		t.Errorf("only %d values were tried", count)
	}
}

// TestDefaultsAreTheSchemas: values.yaml and the schema that is made of it agree on each key.
func TestDefaultsAreTheSchemas(t *testing.T) {
	values, err := chartutil.ReadValuesFile(filepath.Join(folder, "values.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var seen []string
	leaves(readSchema(t), "", func(path string, s schema) {
		seen = append(seen, path)
		var here any = map[string]any(values)
		for _, step := range strings.Split(path, ".") {
			here = here.(map[string]any)[step]
		}
		if fmt.Sprint(here) != fmt.Sprint(s["default"]) {
			t.Errorf("%s: %v in values.yaml, %v in the schema", path, here, s["default"])
		}
		if s["description"] == nil {
			t.Errorf("%s: has no description", path)
		}
	})
	if !slices.Contains(seen, "daemonset.updateStrategy.maxUnavailable") {
		t.Errorf("only %v were compared", seen)
	}
}

// TestTemplatesAreShort is the chart's own rule.
func TestTemplatesAreShort(t *testing.T) {
	names, _ := filepath.Glob(filepath.Join(folder, "templates", "*"))
	if len(names) == 0 {
		t.Fatal("no templates")
	}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if lines := strings.Count(string(text), "\n"); lines > 150 {
			t.Errorf("%s: %d lines", name, lines)
		}
	}
}
