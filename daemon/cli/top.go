package cli

import (
	"bytes"
	"fmt"
	"time"

	pb "penstock.dev/penstock/proto/gen/penstock/v1"
)

type topCommand struct {
	clientFlags
	Interval   time.Duration `help:"Time between two answers." default:"1s"`
	Iterations int           `short:"n" help:"End after so many answers; 0: only when interrupted or when the daemon is gone." default:"0"`
}

// clear moves the cursor home and clears the screen (ECMA-48).
const clear = "\x1b[H\x1b[2J"

// Run shows the status and what happened since the answer before.
func (c *topCommand) Run(o output) error {
	var last *pb.GetStatusResponse
	for i := 0; c.Iterations == 0 || i < c.Iterations; i++ {
		if i > 0 {
			time.Sleep(c.Interval)
		}
		status, err := c.status(false)
		if err != nil {
			return err
		}
		// In one write, so that the screen does not flicker.
		var screen bytes.Buffer
		screen.WriteString(clear)
		printRates(&screen, last, status)
		if err := printStatus(&screen, status); err != nil {
			return err
		}
		if _, err := o.out.Write(screen.Bytes()); err != nil {
			return err
		}
		last = status
	}
	return nil
}

// printRates shows traffic for each second between two answers of one daemon life.
func printRates(screen *bytes.Buffer, last, now *pb.GetStatusResponse) {
	if last == nil || last.GetArenaId() != now.GetArenaId() || now.GetUptimeMillis() <= last.GetUptimeMillis() {
		fmt.Fprintln(screen, "rates: with the next answer")
		return
	}
	seconds := float64(now.GetUptimeMillis()-last.GetUptimeMillis()) / 1000
	rate := func(of func(*pb.CounterStatus) uint64) float64 {
		return float64(of(now.GetCounters())-of(last.GetCounters())) / seconds
	}
	fmt.Fprintf(screen, "rates: %.0f rows/s, %.0f batches/s, %.1f MB/s, %.2f epochs/s\n", rate((*pb.CounterStatus).GetRows),
		rate((*pb.CounterStatus).GetBatches), rate((*pb.CounterStatus).GetEncodedBytes)/1e6, rate((*pb.CounterStatus).GetEpochsSealed))
}
