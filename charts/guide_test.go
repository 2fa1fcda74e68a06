package charts

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"helm.sh/helm/v3/pkg/strvals"
	"sigs.k8s.io/yaml"
)

var (
	helmCommand = regexp.MustCompile(`(?m)^helm install \S+ charts/penstock (.*)$`)
	setFlag     = regexp.MustCompile(`--set (\S+)`)
	yamlBlock   = regexp.MustCompile("(?s)```yaml\n(.*?)```")
	inlineValue = regexp.MustCompile("`([a-z]+(?:\\.[a-zA-Z]+)+)(?:=([a-zA-Z0-9]+))?`")
)

func guide(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../docs/kubernetes.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestGuidesCommandsRender: each helm command of docs/kubernetes.md renders, with the release's name as the guide has it.
func TestGuidesCommandsRender(t *testing.T) {
	commands := helmCommand.FindAllStringSubmatch(guide(t), -1)
	if len(commands) < 2 {
		t.Fatalf("found only %v", commands)
	}
	for _, command := range commands {
		values := map[string]any{}
		for _, set := range setFlag.FindAllStringSubmatch(command[1], -1) {
			if err := strvals.ParseInto(set[1], values); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := render(load(t), values); err != nil {
			t.Errorf("%s: %v", command[0], err)
		}
	}
}

// TestGuideNamesExistingValues: what looks like a value of the chart in the guide is one.
func TestGuideNamesExistingValues(t *testing.T) {
	known := map[string]bool{}
	leaves(readSchema(t), "", func(path string, _ schema) { known[path] = true })
	tops, seen := readSchema(t)["properties"].(schema), 0
	for _, m := range inlineValue.FindAllStringSubmatch(guide(t), -1) {
		top, _, _ := strings.Cut(m[1], ".")
		if tops[top] == nil {
			continue
		}
		seen++
		if !known[m[1]] {
			t.Errorf("the guide names the value %s, which the chart has not", m[1])
		}
	}
	if seen < 4 {
		t.Errorf("only %d values were found in the guide", seen)
	}
}

// guideDeployment is the FlinkDeployment of the guide.
func guideDeployment(t *testing.T) object {
	t.Helper()
	var o object
	if err := yaml.UnmarshalStrict([]byte(yamlBlock.FindStringSubmatch(guide(t))[1]), &o); err != nil {
		t.Fatal(err)
	}
	return o
}

// TestGuidesDeploymentIsTheSnippets: what the guide shows of the pod template is a part of what the chart renders.
func TestGuidesDeploymentIsTheSnippets(t *testing.T) {
	way := []any{"spec", "taskManager", "podTemplate", "spec"}
	shown := guideDeployment(t)
	snippet := parsed(t, rendered(t, variants(t)["sidecar"]), "flink-deployment.yaml")
	for _, part := range [][]any{
		{"securityContext"}, {"containers"}, {"initContainers", 0, "args"}, {"initContainers", 0, "restartPolicy"},
		{"initContainers", 0, "volumeMounts"}, {"volumes", 0},
	} {
		at := append(append([]any{}, way...), part...)
		if got, want := shown.text(at...), snippet.text(at...); got != want {
			t.Errorf("%v: the guide shows %s, the chart renders %s", part, got, want)
		}
	}
}
