package lease

import "time"

// reading is one look at both clocks.
type reading struct {
	// monotonic is the time since this process began; it stands still while the machine sleeps.
	monotonic time.Duration
	// wall has no monotonic part, so that a difference of two is that of the wall clock, which somebody may set.
	wall time.Time
}

// origin is what monotonic counts from.
var origin = time.Now()

func read() reading { return readingOf(time.Now()) }

func readingOf(t time.Time) reading { return reading{t.Sub(origin), t.Round(0)} }

// since is the time that has passed, the sleep of the machine included: a wall clock that was set back must not shorten it.
func (r reading) since(earlier reading) time.Duration {
	return max(r.monotonic-earlier.monotonic, r.wall.Sub(earlier.wall))
}

// Elapsed is the time from since to now, both from time.Now, the sleep of the machine included.
func Elapsed(since, now time.Time) time.Duration { return readingOf(now).since(readingOf(since)) }
