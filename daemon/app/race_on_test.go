//go:build race

package app

// valuesOfAByte is how many values each byte of a hostile client takes; under the race detector one has to do.
const valuesOfAByte = 1
