package main

import "testing"

func TestAboveZero(t *testing.T) {
	for text, want := range map[string]bool{"1": true, "12,345": true, " 32.0 MB ": true, "0.5": true, "0": false, "0 B": false, "": false,
		"NaN": false, "-": false, "-3": false} {
		if got := aboveZero(text); got != want {
			t.Errorf("aboveZero(%q) = %v, want %v", text, got, want)
		}
	}
}
