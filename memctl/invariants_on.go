//go:build invariants

package memctl

// proveSteps makes the steps of every account prove the books and panic when they are wrong.
const proveSteps = true
