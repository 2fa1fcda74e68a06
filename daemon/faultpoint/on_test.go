//go:build faultpoints

package faultpoint

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// rulesFile makes the rules of this test those that Hit finds.
func rulesFile(t *testing.T, text string) (change func(string)) {
	file := filepath.Join(t.TempDir(), "rules")
	t.Setenv(Variable, file)
	change = func(text string) {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	change(text)
	return change
}

func TestARuleActsAfterSoManyHitsSoOften(t *testing.T) {
	change := rulesFile(t, "in-claim error after=1 times=2 # twice\n")
	var got []bool
	for range 5 {
		got = append(got, Hit(InClaim) != nil)
	}
	if want := []bool{false, true, true, false, false}; !equal(got, want) {
		t.Errorf("failed: %v, want %v", got, want)
	}
	if err := Hit(InEncode); err != nil {
		t.Errorf("another place failed: %v", err)
	}
	change("in-claim error\n")
	if Hit(InClaim) == nil {
		t.Error("a changed file has done nothing yet, and did nothing")
	}
	change("")
	if err := Hit(InClaim); err != nil {
		t.Errorf("without a rule: %v", err)
	}
}

func equal(a, b []bool) bool {
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return len(a) == len(b)
}

func TestADelayWaits(t *testing.T) {
	rulesFile(t, "after-flush delay for=30ms")
	start := time.Now()
	if err := Hit(AfterFlush); err != nil || time.Since(start) < 30*time.Millisecond {
		t.Errorf("after %v: %v", time.Since(start), err)
	}
}

func TestChance(t *testing.T) {
	r := &rule{times: 2, chance: 0.5}
	if r.fires(0.5) || !r.fires(0.49) {
		t.Error("a dice below the chance acts, another does not")
	}
}

func TestBadRulesSayWhereAndWhy(t *testing.T) {
	for text, want := range map[string]string{
		"after-begin":              "want a place and an action",
		"\nnowhere kill":           `line 2: there is no place "nowhere"`,
		"in-claim explode":         `no action "explode"`,
		"in-claim kill soon":       `"soon": want after=`,
		"in-claim kill times=many": `"times=many"`,
	} {
		if _, err := parse(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

func TestALeakStays(t *testing.T) {
	rulesFile(t, "after-flush leak times=20")
	before := held(t)
	for range 30 {
		if err := Hit(AfterFlush); err != nil {
			t.Fatal(err)
		}
	}
	for end := time.Now().Add(10 * time.Second); ; time.Sleep(time.Millisecond) {
		now := held(t)
		if now[0] >= before[0]+20 && now[1] >= before[1]+15 { // some of the threads were idle ones before
			return
		}
		if time.Now().After(end) {
			t.Fatalf("20 leaks: descriptors and threads %v before, %v now", before, now)
		}
	}
}

// held is how many descriptors and threads this process has.
func held(t *testing.T) (n [2]int) {
	t.Helper()
	for i, of := range []string{"/proc/self/fd", "/proc/self/task"} {
		entries, err := os.ReadDir(of)
		if err != nil {
			t.Fatal(err)
		}
		n[i] = len(entries)
	}
	return n
}
