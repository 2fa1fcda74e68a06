package daemontest

import (
	"fmt"
	"os"
	"testing"
)

// program is what lets this package work in a process that is no test, but plays a client for one and will be killed.
type program struct{ testing.TB }

// Program is a testing.TB for such a process: what would fail the test ends the process with 1 and says why. Cleanups do not run.
func Program() testing.TB { return program{} }

func (program) Helper()        {}
func (program) Cleanup(func()) {}

func (program) Fatal(args ...any) {
	fmt.Fprintln(os.Stderr, args...)
	os.Exit(1)
}

func (p program) Fatalf(format string, args ...any) { p.Fatal(fmt.Sprintf(format, args...)) }
