package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// spread is one figure over all rounds; it is written as minimum, median and maximum.
type spread []float64

func (s *spread) add(v float64) { *s = append(*s, v) }

func (s spread) sorted() []float64 { return slices.Sorted(slices.Values(s)) }

func (s spread) median() float64 { return s.sorted()[len(s)/2] }

// MarshalJSON writes null for a figure that was not measured.
func (s spread) MarshalJSON() ([]byte, error) {
	if len(s) == 0 {
		return []byte("null"), nil
	}
	v := s.sorted()
	return fmt.Appendf(nil, `{"min":%.4g,"median":%.4g,"max":%.4g}`, v[0], s.median(), v[len(v)-1]), nil
}

// speed is that of one contender.
type speed struct {
	NanosPerRow spread `json:"ns_per_row"`
	RowsPerS    spread `json:"rows_per_s"`
	// BytesPerS counts the bytes that Flink's format makes, for all contenders alike.
	BytesPerS spread `json:"bytes_per_s"`
}

func (s *speed) add(nanosPerRow float64, in *input) {
	s.NanosPerRow.add(nanosPerRow)
	s.RowsPerS.add(1e9 / nanosPerRow)
	s.BytesPerS.add(1e9 / nanosPerRow * float64(in.bytes) / float64(in.rows))
}

// aim is what a format should reach.
type aim struct {
	Nanos float64 `json:"ns_per_row"`
	Ratio float64 `json:"times_flink"`
}

// cell has the figures of one format and batch size.
type cell struct {
	Format      string  `json:"format"`
	Rows        int     `json:"batch_rows"`
	BytesPerRow float64 `json:"bytes_per_row"`
	Penstock    speed   `json:"penstock"`
	// Allocations are for each batch.
	Allocations spread `json:"penstock_allocations_per_batch"`
	Flink       speed  `json:"flink"`
	// FlinkGarbage is in bytes for each row.
	FlinkGarbage spread `json:"flink_garbage_bytes_per_row"`
	Arrow        *speed `json:"arrow_go,omitempty"`
	TimesFlink   spread `json:"times_flink"`
	TimesArrow   spread `json:"times_arrow_go"`
	Aim          *aim   `json:"aim,omitempty"`
}

func (c *cell) arrow() *speed {
	if c.Arrow == nil {
		c.Arrow = &speed{}
	}
	return c.Arrow
}

// report is the content of out/bench-encode.json.
type report struct {
	Rounds int     `json:"rounds"`
	Cells  []*cell `json:"figures"`
}

func newReport(rounds int) *report { return &report{Rounds: rounds} }

// cell returns that of a format and a batch size, a new one in the first round.
func (r *report) cell(in *input) *cell {
	for _, c := range r.Cells {
		if c.Format == in.format && c.Rows == in.rows {
			return c
		}
	}
	c := &cell{Format: in.format, Rows: in.rows, BytesPerRow: float64(in.bytes) / float64(in.rows)}
	if a, ok := aims[in.format]; ok {
		c.Aim = &a
	}
	r.Cells = append(r.Cells, c)
	return c
}

// finish writes the file, prints the table and ends with one line.
func (r *report) finish(out string) error {
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(out), 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(out, append(text, '\n'), 0o644); err != nil {
		return err
	}
	fmt.Printf("%-12s %6s %18s %12s %6s %14s %20s %10s\n",
		"format", "rows", "ns/row", "million/s", "allocs", "Flink ns/row", "times Flink", "arrow-go")
	var summary []string
	for _, c := range r.Cells {
		fmt.Println(c.line())
		if c.Rows == typicalSize {
			summary = append(summary, c.verdict())
		}
	}
	fmt.Printf("bench-encode, medians of %d rounds, batches of %d rows: %s\n", r.Rounds, typicalSize, strings.Join(summary, "; "))
	return nil
}

func (c *cell) line() string {
	nanos, times := c.Penstock.NanosPerRow.sorted(), c.TimesFlink.sorted()
	arrow := "-"
	if len(c.TimesArrow) > 0 {
		arrow = fmt.Sprintf("%.1f", c.TimesArrow.median())
	}
	return fmt.Sprintf("%-12s %6d %18s %12.2f %6.0f %14.0f %20s %10s", c.Format, c.Rows,
		fmt.Sprintf("%.0f/%.0f/%.0f", nanos[0], c.Penstock.NanosPerRow.median(), nanos[len(nanos)-1]),
		c.Penstock.RowsPerS.median()/1e6, c.Allocations.median(), c.Flink.NanosPerRow.median(),
		fmt.Sprintf("%.1f/%.1f/%.1f", times[0], c.TimesFlink.median(), times[len(times)-1]), arrow)
}

// verdict is a format's part of the last line.
func (c *cell) verdict() string {
	nanos, times := c.Penstock.NanosPerRow.median(), c.TimesFlink.median()
	text := fmt.Sprintf("%s %.0f ns a row, %.1f times Flink", c.Format, nanos, times)
	if c.Aim == nil {
		return text
	}
	met := "met"
	if nanos > c.Aim.Nanos || times < c.Aim.Ratio {
		met = "MISSED"
	}
	return fmt.Sprintf("%s (aims %.0f and %.0f: %s)", text, c.Aim.Nanos, c.Aim.Ratio, met)
}
