package app

import (
	"os"
	"runtime"
)

// leastProcs is how many threads run Go code at the same time, on however few processors. A writer waits for its broker inside of C, at a
// barrier all of them at once, and to the Go scheduler such a thread is running until sysmon looks, up to 10 ms later; with one or two
// others every other writer, and the answer that is due, would stand behind it.
const leastProcs = 8

// ensureProcs raises GOMAXPROCS to leastProcs unless the environment has it.
func ensureProcs() {
	if os.Getenv("GOMAXPROCS") == "" && runtime.GOMAXPROCS(0) < leastProcs {
		runtime.GOMAXPROCS(leastProcs)
	}
}
