package daemontest

import (
	"testing"
	"time"
)

// Eventually waits until ready returns true, and fails the test with what it waited for after Deadline.
func Eventually(t testing.TB, what string, ready func() bool) {
	t.Helper()
	for end := time.Now().Add(Deadline); !ready(); {
		if time.Now().After(end) {
			t.Fatalf("it did not happen in time: %s", what)
		}
		time.Sleep(2 * time.Millisecond)
	}
}
