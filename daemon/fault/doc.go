// Package fault is the daemon's one classifier of errors. Lower packages report typed errors of their own; Classify turns any
// of them into the contract's Error, whose kind names the next action of the client. Everything else in the daemon only
// passes the result on.
package fault
