package history

import (
	"fmt"
	"sync"
	"testing"
)

// broken is the panic by which a trial stops; the driver's counterpart of a failed task.
type broken struct{ message string }

func (b broken) Error() string { return b.message }

// trial lets daemontest work where failures are expected: what would fail the test ends the attempt, see try. Cleanups run
// at close, not at the end of the test.
type trial struct {
	testing.TB
	mu       sync.Mutex
	cleanups []func()
}

func newTrial(t testing.TB) *trial { return &trial{TB: t} }

func (t *trial) Fatal(args ...any) { panic(broken{fmt.Sprint(args...)}) }

func (t *trial) Fatalf(format string, args ...any) { panic(broken{fmt.Sprintf(format, args...)}) }

func (t *trial) Helper() {}

func (t *trial) Cleanup(f func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.cleanups = append(t.cleanups, f)
}

// close runs the cleanups, the last one first. It may be called again.
func (t *trial) close() {
	t.mu.Lock()
	cleanups := t.cleanups
	t.cleanups = nil
	t.mu.Unlock()
	for i := len(cleanups) - 1; i >= 0; i-- {
		cleanups[i]()
	}
}

// try runs a step on this goroutine and returns what broke it. Other panics go on.
func try(step func()) (err error) {
	defer func() {
		switch r := recover().(type) {
		case nil:
		case broken:
			err = r
		default:
			panic(r)
		}
	}()
	step()
	return nil
}

// together runs a step for each of n and returns the first failure by order of number.
func together(n int, step func(i int)) error {
	errs := make([]error, n)
	var group sync.WaitGroup
	for i := range n {
		group.Go(func() { errs[i] = try(func() { step(i) }) })
	}
	group.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
