// Package cli is penstockd's command line. Each subcommand is a file of its own; run and validate share the code that reads
// and checks the configuration.
//
// Exit codes: 0 well, 1 failed, 2 wrong use of the command line. doctor uses 1 when a check fails; healthcheck uses 1 for "not
// serving" and 3 for "cannot be reached".
package cli
