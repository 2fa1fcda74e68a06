package main

import (
	"fmt"
	"runtime"
	"time"

	"golang.org/x/sys/unix"
)

// figures are of one batch.
type figures struct {
	nanos, allocations float64
}

// measure calls work for some slices of time and returns the best of them.
func measure(work func() error) (figures, error) {
	// The processor time of a thread is counted.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	// One turn for everything that grows once.
	if err := work(); err != nil {
		return figures{}, err
	}
	var best figures
	var before, after runtime.MemStats
	calls := 0
	runtime.ReadMemStats(&before)
	for k := range slicesEach {
		n, nanos, err := oneSlice(work)
		if err != nil {
			return figures{}, err
		}
		calls += n
		if per := nanos / float64(n); k == 0 || per < best.nanos {
			best.nanos = per
		}
	}
	runtime.ReadMemStats(&after)
	best.allocations = float64((after.Mallocs - before.Mallocs) / uint64(calls))
	return best, nil
}

// oneSlice calls work until the slice is over, and looks at the clock seldom enough for that not to count.
func oneSlice(work func() error) (calls int, nanos float64, err error) {
	start, err := threadTime()
	if err != nil {
		return 0, 0, err
	}
	for step := 1; ; step *= 2 {
		for range step {
			if err := work(); err != nil {
				return 0, 0, err
			}
		}
		calls += step
		now, err := threadTime()
		if err != nil {
			return 0, 0, err
		}
		if spent := now - start; spent >= slice {
			return calls, float64(spent.Nanoseconds()), nil
		}
	}
}

// threadTime is the processor time that this thread has taken: on a machine with other work, time on the clock is mostly waiting.
func threadTime() (time.Duration, error) {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t); err != nil {
		return 0, fmt.Errorf("clock of the thread: %w", err)
	}
	return time.Duration(t.Nano()), nil
}
