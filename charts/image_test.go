package charts

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// instructions are the lines of the Dockerfile without comments, those that go on joined.
func instructions(t *testing.T) []string {
	t.Helper()
	text, err := os.ReadFile("../Dockerfile")
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, line := range strings.Split(strings.ReplaceAll(string(text), "\\\n", ""), "\n") {
		if line != "" && !strings.HasPrefix(line, "#") {
			lines = append(lines, line)
		}
	}
	return lines
}

// TestImageFitsTheChart: program, user and Go version are those that the chart and go.mod name, and the steps are the Makefile's.
func TestImageFitsTheChart(t *testing.T) {
	c, _ := daemons(t, variants(t)["sidecar"])
	program := c.text("startupProbe", "exec", "command", 0)
	lines := strings.Join(instructions(t), "\n")
	for _, want := range []string{
		`ENTRYPOINT ["` + program + `"]`,
		"COPY --from=build /src/build/penstockd " + program,
		"USER " + c.text("securityContext", "runAsUser") + ":" + c.text("securityContext", "runAsGroup"),
		"RUN make daemon",
	} {
		if !strings.Contains(lines+"\n", want+"\n") {
			t.Errorf("the Dockerfile has no line %q", want)
		}
	}
	module, err := os.ReadFile("../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	version := regexp.MustCompile(`(?m)^go (\d+\.\d+)`).FindSubmatch(module)
	if !strings.Contains(lines, "golang:"+string(version[1])+"-") {
		t.Errorf("the image is built by another Go than go.mod's %s", version[1])
	}
	stages := regexp.MustCompile(`(?m)^FROM (\S+)`).FindAllStringSubmatch(lines, -1)
	if last := stages[len(stages)-1][1]; !strings.Contains(last, "distroless") || !strings.HasSuffix(last, ":nonroot") {
		t.Errorf("the last stage is %s, with more in it than the program needs", last)
	}
}

// TestChartIsOfThisRelease: appVersion, which is the image's tag, is the release that CHANGELOG.md begins with.
func TestChartIsOfThisRelease(t *testing.T) {
	text, err := os.ReadFile("../CHANGELOG.md")
	if err != nil {
		t.Fatal(err)
	}
	release := regexp.MustCompile(`(?m)^## \[([^]]+)\]`).FindSubmatch(text)
	if got := load(t).Metadata.AppVersion; release == nil || got != string(release[1]) {
		t.Errorf("appVersion %s, CHANGELOG.md begins with %s", got, release)
	}
}
