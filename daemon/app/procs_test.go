package app

import (
	"runtime"
	"testing"
)

func TestProcsAreRaisedUnlessTheEnvironmentHasThem(t *testing.T) {
	before := runtime.GOMAXPROCS(0)
	defer runtime.GOMAXPROCS(before)
	for _, c := range []struct {
		env         string
		given, want int
	}{{"", 2, leastProcs}, {"", leastProcs + 1, leastProcs + 1}, {"2", 2, 2}} {
		t.Setenv("GOMAXPROCS", c.env)
		runtime.GOMAXPROCS(c.given)
		ensureProcs()
		if got := runtime.GOMAXPROCS(0); got != c.want {
			t.Errorf("GOMAXPROCS=%q, %d before: %d, want %d", c.env, c.given, got, c.want)
		}
	}
}
