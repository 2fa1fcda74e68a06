// Command benchmemory measures the shared memory and its ledger against the bars of the design, and writes the figures as JSON. Each
// measurement is a function of a file of its own; main runs them one after the other. `make bench-memory` calls it.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// figure is one measured number.
type figure struct {
	Name string `json:"name"`
	Unit string `json:"unit"`
	// P50 and P99 are over the samples; a rate has P50 alone.
	P50 float64 `json:"p50"`
	P99 float64 `json:"p99,omitempty"`
	// Bar is the aim for Of ("p50", "p99" or "p99.9"), the most that may be, or for a rate the least; 0: none.
	Bar    float64 `json:"bar,omitempty"`
	Of     string  `json:"of,omitempty"`
	Least  bool    `json:"bar_is_least,omitempty"`
	Tail   float64 `json:"p99_9,omitempty"`
	Misses bool    `json:"misses_bar"`
}

func main() {
	out := flag.String("out", "out/bench-memory.json", "where the figures go")
	flag.Parse()
	if len(flag.Args()) == 1 && flag.Arg(0) == clientArgument {
		exit(playClient())
	}
	exit(run(*out))
}

func exit(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "benchmemory:", err)
		os.Exit(1)
	}
	os.Exit(0)
}

func run(out string) error {
	var all []figure
	for _, measure := range []func() ([]figure, error){ledgerFigures, parkFigures, twoProcessFigures, leaseFigures, writeFigures, revokeFigures} {
		figures, err := measure()
		if err != nil {
			return err
		}
		for _, f := range figures {
			f.judge()
			all = append(all, f)
			fmt.Println(f)
		}
	}
	text, err := json.MarshalIndent(map[string]any{"figures": all}, "", "  ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(out), 0o755); err != nil {
		return err
	}
	return os.WriteFile(out, append(text, '\n'), 0o644)
}

func (f *figure) judge() {
	value := map[string]float64{"p50": f.P50, "p99": f.P99, "p99.9": f.Tail}[f.Of]
	f.Misses = f.Bar != 0 && (f.Least && value < f.Bar || !f.Least && value > f.Bar)
}

// String is the line that is printed.
func (f figure) String() string {
	line := fmt.Sprintf("%-52s p50 %10.1f", f.Name, f.P50)
	if f.P99 != 0 {
		line += fmt.Sprintf("  p99 %10.1f", f.P99)
	}
	if f.Tail != 0 {
		line += fmt.Sprintf("  p99.9 %10.1f", f.Tail)
	}
	line += " " + f.Unit
	if f.Bar == 0 {
		return line
	}
	word, verdict := "at most", "met"
	if f.Least {
		word = "at least"
	}
	if f.Misses {
		verdict = "MISSED"
	}
	return fmt.Sprintf("%s; %s %s %g: %s", line, f.Of, word, f.Bar, verdict)
}

// times makes a figure of samples, in unit.
func times(name string, samples []time.Duration, unit time.Duration, bar float64, of string) figure {
	slices.Sort(samples)
	at := func(share float64) float64 {
		return float64(samples[min(len(samples)-1, int(share*float64(len(samples))))]) / float64(unit)
	}
	names := map[time.Duration]string{time.Nanosecond: "ns", time.Microsecond: "us", time.Millisecond: "ms"}
	return figure{Name: name, Unit: names[unit], P50: at(0.5), P99: at(0.99), Tail: at(0.999), Bar: bar, Of: of}
}

// loops runs step in loops of n and gives the time of one step for each loop: a clock call costs as much as a step.
func loops(count, n int, step func() error) ([]time.Duration, error) {
	samples := make([]time.Duration, 0, count)
	for range count {
		start := time.Now()
		for range n {
			if err := step(); err != nil {
				return nil, err
			}
		}
		samples = append(samples, time.Since(start)/time.Duration(n))
	}
	return samples, nil
}
