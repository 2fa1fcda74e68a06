// Penstockd is the daemon of Penstock: it owns the shared memory that Flink's sinks write rows into, encodes them as Kafka
// records and produces them in the transactions that Flink commits. See `penstockd --help` and daemon/config/penstockd.toml.
package main

import (
	"os"

	"penstock.dev/penstock/daemon/cli"
)

func main() { os.Exit(cli.Main(os.Args[1:], os.Stdout, os.Stderr)) }
