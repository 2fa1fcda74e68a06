//go:build invariants

package memctl

// proveEveryStep makes every step of every account prove the books and panic when they are wrong.
const proveEveryStep = true
