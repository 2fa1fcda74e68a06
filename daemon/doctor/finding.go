package doctor

import (
	"context"
	"fmt"
	"time"

	"penstock.dev/penstock/daemon/config"
)

// State is how much a finding matters.
type State string

// States of findings: Warn works, but worse than it could; Fail does not work.
const (
	OK   State = "ok"
	Warn State = "warn"
	Fail State = "fail"
)

// Finding is the result of one check.
type Finding struct {
	// Check names it, for example "kernel.memfd".
	Check string `json:"check"`
	State State  `json:"state"`
	// Found is what is so.
	Found string `json:"found"`
	// Fix is what to do; empty when State is OK.
	Fix string `json:"fix,omitempty"`
}

// Examination is what to look at.
type Examination struct {
	// Config is the daemon's; nil when it has faults, which ConfigError tells.
	Config *config.Config
	// ConfigError is why there is no Config.
	ConfigError error
	// Properties is the file of Kafka producer properties; "" looks at no broker.
	Properties string
	// Timeout bounds each attempt to reach somebody.
	Timeout time.Duration
}

// Examine makes all checks, in the order in which a start needs what they look at. ctx bounds it as a whole.
func Examine(ctx context.Context, e Examination) []Finding {
	d := &diagnosis{Examination: e}
	d.kernel()
	d.configuration()
	if d.Config != nil {
		d.sockets()
		d.limits(machine())
	}
	if d.Properties != "" {
		d.brokers(ctx)
	}
	return d.findings
}

// diagnosis collects findings.
type diagnosis struct {
	Examination
	findings []Finding
}

func (d *diagnosis) ok(check, found string, args ...any) {
	d.findings = append(d.findings, Finding{check, OK, fmt.Sprintf(found, args...), ""})
}

func (d *diagnosis) warn(check, fix, found string, args ...any) {
	d.findings = append(d.findings, Finding{check, Warn, fmt.Sprintf(found, args...), fix})
}

func (d *diagnosis) fail(check, fix, found string, args ...any) {
	d.findings = append(d.findings, Finding{check, Fail, fmt.Sprintf(found, args...), fix})
}
