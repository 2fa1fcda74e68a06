package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestReport(t *testing.T) {
	r := newReport(3)
	in := &input{format: "json", rows: typicalSize, bytes: 290 * typicalSize}
	for _, nanos := range []float64{100, 50, 80} {
		c := r.cell(in)
		c.Penstock.add(nanos, in)
		c.Flink.add(1000, in)
		c.FlinkGarbage.add(2000)
		c.Allocations.add(0)
		c.TimesFlink.add(1000 / nanos)
	}
	file := filepath.Join(t.TempDir(), "out", "bench.json")
	if err := r.finish(file); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		Rounds  int
		Figures []struct {
			Format     string
			Penstock   map[string]map[string]float64
			TimesFlink map[string]float64 `json:"times_flink"`
			TimesArrow *json.RawMessage   `json:"times_arrow_go"`
			Aim        *aim
		}
	}
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	f := got.Figures[0]
	nanos := f.Penstock["ns_per_row"]
	if got.Rounds != 3 || len(got.Figures) != 1 || nanos["min"] != 50 || nanos["median"] != 80 || nanos["max"] != 100 {
		t.Errorf("got %s", text)
	}
	if f.Penstock["bytes_per_s"]["median"] != 290/80e-9 || f.TimesFlink["median"] != 12.5 || f.TimesArrow != nil || f.Aim.Ratio != 10 {
		t.Errorf("got %s", text)
	}
}

func TestVerdict(t *testing.T) {
	for _, c := range []struct {
		format       string
		nanos, times float64
		want         string
	}{
		{"json", 120, 10, "json 120 ns a row, 10.0 times Flink (aims 120 and 10: met)"},
		{"json", 121, 10, "MISSED"},
		{"json", 120, 9.9, "MISSED"},
		{"raw", 9, 2, "raw 9 ns a row, 2.0 times Flink"},
	} {
		in := &input{format: c.format, rows: 1, bytes: 1}
		cell := newReport(1).cell(in)
		cell.Penstock.add(c.nanos, in)
		cell.TimesFlink.add(c.times)
		if got := cell.verdict(); !strings.Contains(got, c.want) {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}

// A slice counts every call, and an error ends it.
func TestMeasure(t *testing.T) {
	calls := 0
	got, err := measure(func() error { calls++; return nil })
	if err != nil || calls < 2 || got.nanos <= 0 || got.nanos > float64(slice) || got.allocations != 0 {
		t.Errorf("%d calls: got %+v, %v", calls, got, err)
	}
	if _, err := measure(func() error { return os.ErrInvalid }); err != os.ErrInvalid {
		t.Errorf("got %v", err)
	}
}
