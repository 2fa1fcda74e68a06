package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// leg is what one leg measured.
type leg struct {
	rowsPerSecond, clientMicros, brokerMicros float64
}

// spread is minimum, median and maximum.
type spread struct {
	Min    float64 `json:"min"`
	Median float64 `json:"median"`
	Max    float64 `json:"max"`
}

func spreadOf(values []float64) spread {
	slices.Sort(values)
	return spread{values[0], values[len(values)/2], values[len(values)-1]}
}

// series are the legs of one client in one cell.
type series struct {
	legs []leg

	RowsPerSecond spread `json:"rows_per_s"`
	ClientMicros  spread `json:"client_cpu_us_per_row"`
	BrokerMicros  spread `json:"broker_cpu_us_per_row"`
}

func (s *series) add(l leg) {
	s.legs = append(s.legs, l)
	pick := func(of func(leg) float64) spread {
		var values []float64
		for _, l := range s.legs {
			values = append(values, of(l))
		}
		return spreadOf(values)
	}
	s.RowsPerSecond = pick(func(l leg) float64 { return l.rowsPerSecond })
	s.ClientMicros = pick(func(l leg) float64 { return l.clientMicros })
	s.BrokerMicros = pick(func(l leg) float64 { return l.brokerMicros })
}

// cellResult is the comparison in one cell.
type cellResult struct {
	cell
	Rows    int                `json:"rows"`
	Clients map[string]*series `json:"clients"`
	// TimesRows and TimesCPU are penstock's medians over kafka_clients'.
	TimesRows float64 `json:"rows_per_s_ratio"`
	TimesCPU  float64 `json:"client_cpu_ratio"`
}

func newCellResult(c cell) *cellResult {
	return &cellResult{cell: c, Rows: c.rows(), Clients: map[string]*series{}}
}

func (r *cellResult) of(client string) *series {
	if r.Clients[client] == nil {
		r.Clients[client] = &series{}
	}
	return r.Clients[client]
}

// report is out/probe.json.
type report struct {
	Rounds       int           `json:"rounds"`
	Compressions []string      `json:"compressions_proven"`
	Cells        []*cellResult `json:"cells"`
}

// add completes a cell and prints its line.
func (r *report) add(c *cellResult) {
	ours, theirs := c.of("penstock"), c.of("kafka_clients")
	c.TimesRows = ours.RowsPerSecond.Median / theirs.RowsPerSecond.Median
	c.TimesCPU = ours.ClientMicros.Median / theirs.ClientMicros.Median
	r.Cells = append(r.Cells, c)
	fmt.Printf("%5d bytes %-5s %2d partitions: %8.0f / %8.0f rows/s (%.1f times), client %.2f / %.2f us/row (%.2f times), broker %.2f / %.2f\n",
		c.Size, c.Compression, c.Partitions, ours.RowsPerSecond.Median, theirs.RowsPerSecond.Median, c.TimesRows,
		ours.ClientMicros.Median, theirs.ClientMicros.Median, c.TimesCPU, ours.BrokerMicros.Median, theirs.BrokerMicros.Median)
}

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
	var rows, cpu []float64
	for _, c := range r.Cells {
		rows, cpu = append(rows, c.TimesRows), append(cpu, c.TimesCPU)
	}
	fmt.Printf("probe: %d cells, %.2f times the rows/s and %.2f times the client's CPU of kafka-clients (medians); compressions %s\n",
		len(r.Cells), spreadOf(rows).Median, spreadOf(cpu).Median, strings.Join(r.Compressions, ", "))
	return nil
}
