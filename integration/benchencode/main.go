// Command benchencode compares Penstock's JSON encoder with arrow-go's RecordToJSON on Nexmark bid rows: both benchmarks of
// kafka/encode run in turn, and the ratio of each pair is reported with its minimum, median and maximum.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
)

// spread is the minimum, median and maximum of one figure over all runs.
type spread struct {
	Min    float64 `json:"min"`
	Median float64 `json:"median"`
	Max    float64 `json:"max"`
}

// report is the content of out/bench-encode.json.
type report struct {
	Pairs         int    `json:"pairs"`
	PenstockRowsS spread `json:"penstock_rows_per_s"`
	ArrowRowsS    spread `json:"arrow_record_to_json_rows_per_s"`
	Ratio         spread `json:"ratio"`
	AllocsBatch   spread `json:"penstock_allocs_per_batch"`
}

func main() {
	out := flag.String("out", "out/bench-encode.json", "where the figures go")
	pairs := flag.Int("pairs", 5, "how often both run")
	flag.Parse()
	if err := run(*out, *pairs); err != nil {
		fmt.Fprintln(os.Stderr, "benchencode:", err)
		os.Exit(1)
	}
}

func run(out string, pairs int) error {
	dir, err := os.MkdirTemp("", "benchencode")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	binary := filepath.Join(dir, "encode.test")
	if text, err := exec.Command("go", "test", "-c", "-o", binary, "./kafka/encode").CombinedOutput(); err != nil {
		return fmt.Errorf("building the benchmark: %w\n%s", err, text)
	}
	var ours, arrow, ratio, allocs []float64
	for range pairs {
		a, err := bench(binary, "BenchmarkBid")
		if err != nil {
			return err
		}
		b, err := bench(binary, "BenchmarkBidArrowRecordToJSON")
		if err != nil {
			return err
		}
		ours, arrow = append(ours, a["rows/s"]), append(arrow, b["rows/s"])
		ratio = append(ratio, a["rows/s"]/b["rows/s"])
		allocs = append(allocs, a["allocs/op"])
	}
	rep := report{Pairs: pairs, PenstockRowsS: spreadOf(ours), ArrowRowsS: spreadOf(arrow), Ratio: spreadOf(ratio),
		AllocsBatch: spreadOf(allocs)}
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
	fmt.Printf("bench-encode: %.1f million rows/s, %.1f times arrow-go (min %.1f, max %.1f), %.0f allocations per batch\n",
		rep.PenstockRowsS.Median/1e6, rep.Ratio.Median, rep.Ratio.Min, rep.Ratio.Max, rep.AllocsBatch.Median)
	return nil
}

var metric = regexp.MustCompile(`([0-9.e+]+) (rows/s|allocs/op)`)

// bench runs one benchmark once and returns its metrics by unit.
func bench(binary, name string) (map[string]float64, error) {
	text, err := exec.Command(binary, "-test.run", "^$", "-test.bench", "^"+name+"$", "-test.benchtime", "1s").CombinedOutput()
	if err != nil {
		return nil, fmt.Errorf("%s: %w\n%s", name, err, text)
	}
	got := map[string]float64{}
	for _, m := range metric.FindAllStringSubmatch(string(text), -1) {
		v, err := strconv.ParseFloat(m[1], 64)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		got[m[2]] = v
	}
	if got["rows/s"] == 0 {
		return nil, fmt.Errorf("%s reported no rows/s:\n%s", name, text)
	}
	return got, nil
}

func spreadOf(v []float64) spread {
	slices.Sort(v)
	return spread{Min: v[0], Median: v[len(v)/2], Max: v[len(v)-1]}
}
