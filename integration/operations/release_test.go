package operations

import (
	"bytes"
	"os"
	"testing"
)

// What kills a daemon on purpose must not be in what users run. The daemon of the tests shows that the words would be found.
func TestTheReleaseHasNoFaultPoints(t *testing.T) {
	for name, want := range map[string]bool{"penstockd": false, "penstockd-faults": true} {
		content, err := os.ReadFile(binary(t, name))
		if err != nil {
			t.Fatal(err)
		}
		for _, word := range []string{"PENSTOCK_FAULTPOINTS", "daemon/faultpoint", "after-last-row"} {
			if got := bytes.Contains(content, []byte(word)); got != want {
				t.Errorf("build/%s contains %q: %v, want %v", name, word, got, want)
			}
		}
	}
}
