//go:build !race

package memorysoak

const defaultRounds = 500
