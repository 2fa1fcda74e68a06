//go:build !race

package app

const valuesOfAByte = 3
