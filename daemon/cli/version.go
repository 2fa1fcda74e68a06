package cli

import (
	"fmt"

	"penstock.dev/penstock/daemon/app"
)

type versionCommand struct{}

// Run prints the daemon's version.
func (versionCommand) Run(o output) error {
	_, err := fmt.Fprintln(o.out, "penstockd", app.Version())
	return err
}
