package main

import (
	"slices"
	"testing"
)

func TestCells(t *testing.T) {
	short, full := cells(false), cells(true)
	if len(short) != 1+4+2+3 || len(full) != 5*3*4 {
		t.Errorf("%d cells, in full %d", len(short), len(full))
	}
	for _, c := range full {
		if rows := c.rows(); rows%poolValues != 0 || rows < minRows || rows > maxRows {
			t.Errorf("%v: %d rows", c, rows)
		}
	}
	// The pool depends on the size alone.
	for _, c := range short {
		if pool := c.pool(); len(pool) != poolValues*c.Size || !slices.Equal(pool, c.pool()) {
			t.Errorf("%v: %d bytes, or others the second time", c, len(pool))
		}
	}
}

// The chunks together are the pool, value by value, as the JVM cuts it.
func TestChunksAreThePool(t *testing.T) {
	for _, c := range cells(false) {
		pool := c.pool()
		var all []byte
		values := 0
		for _, chunk := range chunksOf(c, "topic", pool) {
			all = append(all, chunk.Values...)
			values += chunk.Len()
			if chunk.Size(0, 1) != c.Size || len(chunk.Values) != chunk.Len()*c.Size {
				t.Errorf("%v: a chunk of %d values has %d bytes", c, chunk.Len(), len(chunk.Values))
			}
		}
		if values != poolValues || !slices.Equal(all, pool) {
			t.Errorf("%v: %d values", c, values)
		}
	}
}

func TestMediansAndRatios(t *testing.T) {
	r := newCellResult(cell{300, "none", 4})
	for _, speed := range []float64{30, 10, 20} {
		r.of("penstock").add(leg{rowsPerSecond: 3 * speed, clientMicros: 1, brokerMicros: 2})
		r.of("kafka_clients").add(leg{rowsPerSecond: speed, clientMicros: 4, brokerMicros: 3})
	}
	rep := &report{}
	rep.add(r)
	if got := r.of("penstock").RowsPerSecond; got != (spread{30, 60, 90}) {
		t.Errorf("spread %v", got)
	}
	if r.TimesRows != 3 || r.TimesCPU != 0.25 {
		t.Errorf("ratios %v and %v", r.TimesRows, r.TimesCPU)
	}
}
