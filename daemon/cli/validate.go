package cli

import "fmt"

type validateCommand struct {
	configFlags
}

// Run checks the configuration exactly as run does and starts nothing.
func (c *validateCommand) Run(o output) error {
	settings, err := c.load()
	if err != nil {
		return err
	}
	fmt.Fprintf(o.out, "the configuration is valid\nsession socket  %s\napi socket      %s\narena           %v in segments of %v, %d warm\n",
		settings.Listen.SessionPath(), settings.Listen.APIPath(), settings.Arena.Capacity, settings.Arena.Segment,
		settings.Arena.WarmSegments)
	return nil
}
