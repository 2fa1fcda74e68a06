package cli

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"penstock.dev/penstock/daemon/app"
	"penstock.dev/penstock/daemon/telemetry"
	"penstock.dev/penstock/kafka/producer/rdkafka"
)

type runCommand struct {
	configFlags
}

// Run serves until SIGTERM or SIGINT and then drains; a second signal ends the draining.
func (c *runCommand) Run(o output) error {
	settings, err := c.load()
	if err != nil {
		return err
	}
	log := telemetry.NewLogger(o.err, settings.Log.SlogLevel(), settings.Log.Format)
	engine, err := rdkafka.New(log)
	if err != nil {
		return err
	}
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT)
	defer signal.Stop(signals)
	daemon, err := app.New(settings, engine, log)
	if err != nil {
		return err
	}
	return daemon.Run(context.Background(), signals)
}
