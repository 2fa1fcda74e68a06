//go:build !invariants

package memctl

// proveSteps is off: the steps are proven in tests.
const proveSteps = false
