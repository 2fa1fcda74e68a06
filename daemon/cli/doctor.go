package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"penstock.dev/penstock/daemon/doctor"
)

type doctorCommand struct {
	configFlags
	Properties string        `help:"Properties of a Kafka producer: reach the brokers as a sink does. PEM stores only." type:"path" placeholder:"FILE"`
	Timeout    time.Duration `help:"How long each attempt to reach somebody may take." default:"5s"`
	JSON       bool          `name:"json" help:"Print the findings as JSON."`
}

// doctorLimit bounds a whole examination; there is a wait for each broker of a cluster.
const doctorLimit = 5 * time.Minute

// Run examines this node. Its exit code is 1 when anything fails; warnings do not count.
func (c *doctorCommand) Run(o output) error {
	ctx, cancel := context.WithTimeout(context.Background(), doctorLimit)
	defer cancel()
	e := doctor.Examination{Properties: c.Properties, Timeout: c.Timeout}
	if settings, err := c.load(); err != nil {
		e.ConfigError = err
	} else {
		e.Config = settings
	}
	findings := doctor.Examine(ctx, e)
	count := map[doctor.State]int{}
	for _, f := range findings {
		count[f.State]++
	}
	if err := c.print(o.out, findings); err != nil {
		return err
	}
	if n := count[doctor.Fail]; n > 0 {
		return fmt.Errorf("%d of %d checks fail, %d warn", n, len(findings), count[doctor.Warn])
	}
	return nil
}

func (c *doctorCommand) print(out io.Writer, findings []doctor.Finding) error {
	if c.JSON {
		encoder := json.NewEncoder(out)
		encoder.SetIndent("", "  ")
		encoder.SetEscapeHTML(false)
		return encoder.Encode(findings)
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, f := range findings {
		fmt.Fprintf(w, "%s\t%s\t%s\n", f.State, f.Check, f.Found)
		if f.Fix != "" {
			fmt.Fprintf(w, "\t\tfix: %s\n", f.Fix)
		}
	}
	return w.Flush()
}
