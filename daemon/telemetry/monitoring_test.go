package telemetry

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"penstock.dev/penstock/memctl"
	pb "penstock.dev/penstock/proto/gen/penstock/v1"
)

// update writes the table of docs/observability.md instead of comparing it; `make monitoring-docs` sets it.
var update = flag.Bool("update", false, "write docs/observability.md")

const root = "../.."

// anyProcess stands for the name of a TaskManager.
const anyProcess = "the TaskManager's name"

// scrape is one answer of a real endpoint, parsed as Prometheus parses it.
func scrape(t *testing.T) map[string]*dto.MetricFamily {
	t.Helper()
	counters := NewCounters()
	counters.ObserveSeal(0.01)
	account := &pb.AccountStatus{Process: anyProcess}
	for _, purpose := range memctl.Purposes() {
		account.ByPurpose = append(account.ByPurpose, &pb.PurposeBytes{Purpose: purpose.String()})
	}
	status := func() *pb.GetStatusResponse {
		return &pb.GetStatusResponse{Serving: true, Counters: counters.Status(), Accounts: []*pb.AccountStatus{account}}
	}
	endpoint, err := NewEndpoint("127.0.0.1:0", NewCollector(status, counters))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- endpoint.Run(ctx) }()
	t.Cleanup(func() { cancel(); <-ended })
	client := http.Client{Timeout: 10 * time.Second}
	reply, err := client.Get("http://" + endpoint.Address() + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer reply.Body.Close()
	if kind := expfmt.ResponseFormat(reply.Header).FormatType(); kind != expfmt.TypeTextPlain {
		t.Fatalf("Content-Type %q is no text format of Prometheus", reply.Header.Get("Content-Type"))
	}
	text := expfmt.NewTextParser(model.LegacyValidation)
	families, err := text.TextToMetricFamilies(reply.Body)
	if err != nil {
		t.Fatal(err)
	}
	return families
}

// own leaves the families of the Go client out.
func own(families map[string]*dto.MetricFamily) []*dto.MetricFamily {
	var list []*dto.MetricFamily
	for _, name := range slices.Sorted(maps.Keys(families)) {
		if strings.HasPrefix(name, "penstock_") {
			list = append(list, families[name])
		}
	}
	return list
}

// declared are the metric names of names.go.
func declared(t *testing.T) []string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "names.go", nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	ast.Inspect(file, func(n ast.Node) bool {
		if spec, ok := n.(*ast.ValueSpec); ok && strings.HasPrefix(spec.Names[0].Name, "Metric") && len(spec.Values) == 1 {
			names = append(names, strings.Trim(spec.Values[0].(*ast.BasicLit).Value, `"`))
		}
		return true
	})
	return names
}

// TestScrapeHasEveryDeclaredMetric: what names.go lists is served, and nothing else under our name, in Prometheus' good style.
func TestScrapeHasEveryDeclaredMetric(t *testing.T) {
	families := own(scrape(t))
	var served []string
	for _, f := range families {
		served = append(served, f.GetName())
	}
	names := declared(t)
	slices.Sort(names)
	if !slices.Equal(served, names) {
		t.Errorf("served:   %v\ndeclared: %v\na metric that is not there before its first event is counted at zero from the start", served, names)
	}
	problems, err := promlint.NewWithMetricFamilies(families).Lint()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		t.Errorf("%s: %s", p.Metric, p.Text)
	}
}

// metricsTable is what docs/observability.md shows.
func metricsTable(families []*dto.MetricFamily) string {
	var b strings.Builder
	b.WriteString("| metric | type | labels | meaning |\n|---|---|---|---|\n")
	for _, f := range families {
		values := map[string][]string{}
		for _, m := range f.GetMetric() {
			for _, l := range m.GetLabel() {
				values[l.GetName()] = append(values[l.GetName()], l.GetValue())
			}
		}
		var labels []string
		for _, name := range slices.Sorted(maps.Keys(values)) {
			slices.Sort(values[name])
			labels = append(labels, fmt.Sprintf("`%s`: %s", name, strings.Join(slices.Compact(values[name]), ", ")))
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", f.GetName(), strings.ToLower(f.GetType().String()), strings.Join(labels, "; "), f.GetHelp())
	}
	return b.String()
}

func TestDocumentedMetricsAreThoseServed(t *testing.T) {
	const begin, end = "<!-- metrics: begin -->\n", "<!-- metrics: end -->\n"
	path := filepath.Join(root, "docs", "observability.md")
	text := readFile(t, path)
	before, rest, begun := strings.Cut(text, begin)
	shown, after, ended := strings.Cut(rest, end)
	if !begun || !ended {
		t.Fatalf("%s has no lines %q and %q", path, begin, end)
	}
	table := metricsTable(own(scrape(t)))
	switch {
	case shown == table:
	case *update:
		if err := os.WriteFile(path, []byte(before+begin+table+end+after), 0o644); err != nil {
			t.Fatal(err)
		}
	default:
		t.Errorf("%s does not show the metrics that are served: run 'make monitoring-docs' and commit the result\n%s", path, table)
	}
}

func readFile(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

var (
	usedMetric = regexp.MustCompile(`\b(?:penstock|process|go|flink)_\w+`)
	// flinkMetric is how Flink's Prometheus reporter names a metric of the group penstock of a sink's operator.
	flinkMetric = regexp.MustCompile(`^flink_taskmanager_job_task_operator_penstock_(\w+)$`)
	javaMetric  = regexp.MustCompile(`(?:counter|gauge|account)\((?:group, )?(?:daemon, )?"(\w+)"`)
)

// javaMetrics are the names that the sink registers in its group.
func javaMetrics(t *testing.T) map[string]bool {
	t.Helper()
	names := map[string]bool{}
	for _, file := range []string{"WriterMetrics.java", "NativeMemoryMetrics.java", "RefusedCommits.java"} {
		text := readFile(t, filepath.Join(root, "client-java/flink-sink/src/main/java/dev/penstock/flink/sink", file))
		for _, m := range javaMetric.FindAllStringSubmatch(text, -1) {
			names[m[1]] = true
		}
	}
	if len(names) < 10 {
		t.Fatalf("found only %v in the Java sources", names)
	}
	return names
}

// requireExisting sees that a text names only metrics that exist, and more than none.
func requireExisting(t *testing.T, where, text string) {
	t.Helper()
	families, java := scrape(t), javaMetrics(t)
	used := usedMetric.FindAllString(text, -1)
	if len(used) < 5 {
		t.Errorf("%s names only %v", where, used)
	}
	for _, name := range used {
		base := name
		for _, suffix := range []string{"_bucket", "_sum", "_count"} {
			base = strings.TrimSuffix(base, suffix)
		}
		if m := flinkMetric.FindStringSubmatch(name); families[name] == nil && families[base] == nil && (m == nil || !java[m[1]]) {
			t.Errorf("%s: there is no metric %s", where, name)
		}
	}
}

func TestAlertsUseExistingMetrics(t *testing.T) {
	text := readFile(t, filepath.Join(root, "monitoring/alerts.yaml"))
	requireExisting(t, "alerts.yaml", text)
	docs, cases := readFile(t, filepath.Join(root, "docs/observability.md")), readFile(t, filepath.Join(root, "monitoring/alerts_test.yaml"))
	for _, m := range regexp.MustCompile(`alert: (\w+)`).FindAllStringSubmatch(text, -1) {
		if !strings.Contains(docs, "| "+m[1]+" |") {
			t.Errorf("docs/observability.md does not say what to do at %s", m[1])
		}
		if !strings.Contains(cases, `alertname="`+m[1]+`"`) {
			t.Errorf("alerts_test.yaml has no case in which %s fires", m[1])
		}
	}
}

func TestDashboardUsesExistingMetrics(t *testing.T) {
	var dashboard struct {
		Panels []struct {
			Title   string
			Targets []struct{ Expr string }
		}
		Templating struct{ List []struct{ Query string } }
	}
	if err := json.Unmarshal([]byte(readFile(t, filepath.Join(root, "monitoring/dashboard.json"))), &dashboard); err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for _, p := range dashboard.Panels {
		if len(p.Targets) == 0 {
			t.Errorf("panel %q shows nothing", p.Title)
		}
		for _, target := range p.Targets {
			all.WriteString(target.Expr + "\n")
		}
	}
	for _, v := range dashboard.Templating.List {
		all.WriteString(v.Query + "\n")
	}
	requireExisting(t, "dashboard.json", all.String())
}

func TestDocumentedFlinkMetricsExist(t *testing.T) {
	text := readFile(t, filepath.Join(root, "docs/observability.md"))
	requireExisting(t, "observability.md", strings.Join(regexp.MustCompile("`(?:flink|penstock)_\\w+`").FindAllString(text, -1), " "))
	for name := range javaMetrics(t) {
		if !strings.Contains(text, "operator_penstock_"+name+"`") {
			t.Errorf("docs/observability.md does not show %s", name)
		}
	}
}
