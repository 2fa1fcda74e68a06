// Package charts holds the tests of the Helm chart: what it renders, what it refuses, that each value does something, and, with a
// Kubernetes API server, that the server takes all of it (`make chart-check`).
package charts

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/engine"
	"helm.sh/helm/v3/pkg/lint"
	"helm.sh/helm/v3/pkg/lint/support"
	"sigs.k8s.io/yaml"
)

const folder = "penstock"

// object is one manifest.
type object map[string]any

// at walks maps by name and lists by number; nil where the way ends.
func (o object) at(way ...any) any {
	var here any = map[string]any(o)
	for _, step := range way {
		switch s := step.(type) {
		case string:
			m, _ := here.(map[string]any)
			here = m[s]
		case int:
			list, _ := here.([]any)
			if s >= len(list) {
				return nil
			}
			here = list[s]
		}
	}
	return here
}

func (o object) text(way ...any) string { return fmt.Sprint(o.at(way...)) }

func load(t *testing.T) *chart.Chart {
	t.Helper()
	c, err := loader.LoadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// render is what `helm template` prints, by template name.
func render(c *chart.Chart, values map[string]any) (map[string]string, error) {
	all, err := chartutil.ToRenderValues(c, values, chartutil.ReleaseOptions{Name: "rel", Namespace: "flink", IsInstall: true},
		chartutil.DefaultCapabilities)
	if err != nil {
		return nil, err
	}
	files, err := engine.Render(c, all)
	if err != nil {
		return nil, err
	}
	out := map[string]string{}
	for name, text := range files {
		if strings.TrimSpace(text) != "" {
			out[filepath.Base(name)] = text
		}
	}
	return out, nil
}

// manifests are the objects of a rendered chart, by kind and name.
func manifests(t *testing.T, files map[string]string) map[string]object {
	t.Helper()
	objects := map[string]object{}
	for name, text := range files {
		if !strings.HasSuffix(name, ".yaml") {
			continue
		}
		for _, part := range strings.Split(text, "\n---\n") {
			var o object
			if err := yaml.UnmarshalStrict([]byte(part), &o); err != nil {
				t.Fatalf("%s: %v\n%s", name, err, part)
			}
			if o != nil {
				objects[o.text("kind")+"/"+o.text("metadata", "name")] = o
			}
		}
	}
	return objects
}

// variants are the value files of ci, by name.
func variants(t *testing.T) map[string]map[string]any {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(folder, "ci", "*-values.yaml"))
	if err != nil || len(names) < 5 {
		t.Fatalf("%d value files, %v; want at least 5", len(names), err)
	}
	all := map[string]map[string]any{}
	for _, name := range names {
		values, err := chartutil.ReadValuesFile(name)
		if err != nil {
			t.Fatal(err)
		}
		all[strings.TrimSuffix(filepath.Base(name), "-values.yaml")] = values
	}
	return all
}

func rendered(t *testing.T, values map[string]any) map[string]object {
	t.Helper()
	files, err := render(load(t), values)
	if err != nil {
		t.Fatal(err)
	}
	return manifests(t, files)
}

// parsed reads a snippet of the snippets' ConfigMap.
func parsed(t *testing.T, objects map[string]object, key string) object {
	t.Helper()
	for name, o := range objects {
		if strings.HasPrefix(name, "ConfigMap/") && strings.HasSuffix(name, "-snippets") {
			var snippet object
			if err := yaml.UnmarshalStrict([]byte(o.text("data", key)), &snippet); err != nil {
				t.Fatalf("%s: %v\n%s", key, err, o.text("data", key))
			}
			return snippet
		}
	}
	t.Fatal("no snippets")
	return nil
}

func TestHelmLint(t *testing.T) {
	for name, values := range variants(t) {
		for _, m := range lint.All(folder, values, "flink", true).Messages {
			if m.Severity > support.InfoSev {
				t.Errorf("%s: %v", name, m)
			}
		}
	}
}
