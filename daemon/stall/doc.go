// Package stall has the test of a real penstockd whose real broker stands still while a sink pushes far more than its credit: shared
// memory, heap and disk stay within their bounds, and every row comes once and in order when the broker goes on.
package stall
