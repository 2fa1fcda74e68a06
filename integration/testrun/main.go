// Command testrun runs every test suite of Penstock one after the other, counts their tests, writes the counts as JSON and
// ends with one summary line. `make test` calls it; it exits with 1 when a test failed or a suite did not run to its end.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// counts adds up the tests of one suite.
type counts struct {
	Passed  int `json:"passed"`
	Failed  int `json:"failed"`
	Skipped int `json:"skipped"`
	// Parts are the counts of single scenarios, where a suite has some.
	Parts map[string]counts `json:"parts,omitempty"`
}

func (c *counts) add(o counts) {
	c.Passed += o.Passed
	c.Failed += o.Failed
	c.Skipped += o.Skipped
}

// suite is one runner with its packages or modules.
type suite struct {
	name string
	run  func() (counts, error)
	// longer suites run only when they are named.
	longer bool
}

// result is what one suite leaves in the report.
type result struct {
	counts
	Seconds float64 `json:"seconds"`
	Error   string  `json:"error,omitempty"`
}

// report is the content of out/test.json.
type report struct {
	counts
	Suites map[string]result `json:"suites"`
}

// pure packages have no cgo; the race detector runs on them.
var pure = []string{"./shm/...", "./columnar/...", "./memctl/...", "./kafka/encode/...", "./kafka/epoch/...",
	"./kafka/kafkatest/...", "./daemon/..."}

// native packages link librdkafka or start real servers; memctl and memorysoak run in full length only without the race
// detector.
var native = []string{".", "./memctl", "./daemon/memorysoak", "./kafka/producer/...", "./integration/..."}

func main() {
	out := flag.String("out", "out/test.json", "where the counts go")
	only := flag.String("only", "", "comma-separated names of the suites to run, all but flink-lines and brokers when empty: "+strings.Join(names(suites()), ", "))
	flag.Parse()
	if err := run(*out, *only); err != nil {
		fmt.Fprintln(os.Stderr, "testrun:", err)
		os.Exit(1)
	}
}

func suites() []suite {
	return []suite{
		{name: "go-race", run: func() (counts, error) { return goTest(append([]string{"-race", "-tags", "invariants"}, pure...)) }},
		{name: "go-native", run: func() (counts, error) { return goTest(append([]string{"-p", "1", "-tags", "invariants"}, native...)) }},
		{name: "go-faults", run: func() (counts, error) {
			return goTest([]string{"-tags", "faultpoints,invariants", "./daemon/faultpoint"})
		}},
		{name: "java", run: mavenTest},
		{name: "parity", run: parityTest},
		{name: "flink-lines", run: linesTest, longer: true},
		{name: "brokers", run: brokersTest, longer: true},
	}
}

// chosen tells whether the suite runs; only is a list of names, or empty.
func (s *suite) chosen(only string) bool {
	if only == "" {
		return !s.longer
	}
	return slices.Contains(strings.Split(only, ","), s.name)
}

func names(all []suite) []string {
	var out []string
	for _, s := range all {
		out = append(out, s.name)
	}
	return out
}

func run(out, only string) error {
	rep := report{Suites: map[string]result{}}
	for _, s := range suites() {
		if !s.chosen(only) {
			continue
		}
		fmt.Printf("--- %s\n", s.name)
		start := time.Now()
		c, err := s.run()
		res := result{counts: c, Seconds: time.Since(start).Seconds()}
		if err != nil {
			res.Error = err.Error()
			if c.Failed == 0 { // the suite broke before a test could fail
				res.Failed++
			}
		}
		rep.Suites[s.name] = res
		rep.add(res.counts)
	}
	return finish(out, rep)
}

func finish(out string, rep report) error {
	text, err := json.MarshalIndent(rep, "", "  ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(out), 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(out, append(text, '\n'), 0o644); err != nil {
		return err
	}
	for name, r := range rep.Suites {
		if r.Error != "" {
			fmt.Printf("%s: %s\n", name, r.Error)
		}
	}
	fmt.Printf("%d passed, %d failed, %d skipped\n", rep.Passed, rep.Failed, rep.Skipped)
	if rep.Failed > 0 {
		return fmt.Errorf("%d tests failed; counts are in %s", rep.Failed, out)
	}
	if rep.Passed == 0 {
		return fmt.Errorf("no test ran")
	}
	return nil
}
