// Command benchencode measures what one row costs in the encoders of kafka/encode, in Flink's own serializers and in
// arrow-go's writers, all on the same Nexmark bids. The classes of client-java/bench write the bids as batches, by the sink's column
// writer, and say what Flink makes of them: nothing is measured before every encoder has written exactly those bytes. Then all
// take turns, on one thread each. Time is processor time of that thread.
package main

import (
	"flag"
	"fmt"
	"os"
	"time"
)

// batchSizes are the rows of a batch, in ascending order.
var batchSizes = []int{1, 16, 256, 4096, 65536}

// typicalSize is the size that the summary names.
const typicalSize = 4096

// Each contender runs for some slices of its thread's processor time, of which the best one counts.
const (
	slicesEach = 10
	slice      = 30 * time.Millisecond
)

// aims are ns for each row and times as fast as Flink's serializer.
var aims = map[string]aim{
	"json":     {Nanos: 120, Ratio: 10},
	"csv":      {Nanos: 150, Ratio: 8},
	"avro":     {Nanos: 100, Ratio: 10},
	"protobuf": {Nanos: 150, Ratio: 6},
}

func main() {
	out := flag.String("out", "out/bench-encode.json", "where the figures go")
	classpath := flag.String("classpath", "", "class path of client-java/bench")
	java := flag.String("java", "java", "the JVM that runs Flink's serializers")
	rounds := flag.Int("rounds", 3, "how often all take their turn")
	flag.Parse()
	if err := run(*out, jvm{*java, *classpath}, *rounds); err != nil {
		fmt.Fprintln(os.Stderr, "benchencode:", err)
		os.Exit(1)
	}
}

func run(out string, j jvm, rounds int) error {
	if rounds < 1 {
		return fmt.Errorf("-rounds %d: at least 1", rounds)
	}
	dir, err := os.MkdirTemp("", "benchencode")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	feature, err := j.writeRows(dir)
	if err != nil {
		return err
	}
	inputs, err := readInputs(dir, feature)
	if err != nil {
		return err
	}
	r := newReport(rounds)
	for range rounds {
		for _, format := range formatsOf(inputs) {
			if err := round(r, j, dir, format, inputs); err != nil {
				return err
			}
		}
	}
	return r.finish(out)
}

// round gives each contender of one format its turn at all batch sizes.
func round(r *report, j jvm, dir, format string, inputs []*input) error {
	flink, err := j.measure(dir, format)
	if err != nil {
		return err
	}
	for _, in := range inputs {
		if in.format != format {
			continue
		}
		c := r.cell(in)
		c.Flink.add(flink[in.rows].nanos, in)
		c.FlinkGarbage.add(flink[in.rows].garbage)
		ours, err := measure(in.encode)
		if err != nil {
			return fmt.Errorf("%s, %d rows: %w", format, in.rows, err)
		}
		c.Penstock.add(ours.nanos/float64(in.rows), in)
		c.Allocations.add(ours.allocations)
		c.TimesFlink.add(flink[in.rows].nanos * float64(in.rows) / ours.nanos)
		write := arrowWriters[format]
		if write == nil {
			continue
		}
		arrow, err := measure(func() error { return write(in.record) })
		if err != nil {
			return fmt.Errorf("%s of arrow-go, %d rows: %w", format, in.rows, err)
		}
		c.arrow().add(arrow.nanos/float64(in.rows), in)
		c.TimesArrow.add(arrow.nanos / ours.nanos)
	}
	return nil
}
