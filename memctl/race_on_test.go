//go:build race

package memctl

// Under the race detector a step takes ten times as long; the full number is for the run without.
const defaultOperations = 100_000
