//go:build race

package memorysoak

// The race detector watches this process, not the daemon: the full number is for the run without it.
const defaultRounds = 50
