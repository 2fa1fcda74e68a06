//go:build !race

package memctl

const defaultOperations = 1_000_000
