package doctor

import (
	"errors"

	"penstock.dev/penstock/daemon/config"
)

// configuration tells each fault as a finding of its own.
func (d *diagnosis) configuration() {
	if d.ConfigError == nil {
		d.ok("config", "valid: %v of shared memory in segments of %v", d.Config.Arena.Capacity, d.Config.Arena.Segment)
		return
	}
	faults, ok := errors.AsType[config.Faults](d.ConfigError)
	if !ok {
		d.fail("config", "correct it; `penstockd validate` reads the same", "%v", d.ConfigError)
		return
	}
	for _, f := range faults {
		text := f.Key
		if f.Value != "" {
			text += " = " + f.Value
		}
		d.fail("config", f.Problem, "%s", text)
	}
}
