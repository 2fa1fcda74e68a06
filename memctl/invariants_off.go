//go:build !invariants

package memctl

// proveEveryStep is off: the steps are proven in tests.
const proveEveryStep = false
