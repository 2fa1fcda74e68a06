// Package operations holds the tests of what an operator does with a running daemon: grpcurl, status, healthcheck, stop, and
// the commands that README.md shows. It runs the binaries that `make build` made.
package operations
