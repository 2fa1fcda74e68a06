package app

import (
	"context"
	"time"
)

// A client's process ends within milliseconds of its session, a JVM that lives on unmaps within seconds.
const (
	firstSweep = time.Millisecond
	lastSweep  = time.Second
)

// sweepOrphans looks after segments whose lease is over and which a client still maps, until there are none.
func (a *App) sweepOrphans(ctx context.Context) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-a.orphaned:
		}
		for pause := firstSweep; a.arena.Sweep() > 0; pause = min(2*pause, lastSweep) {
			timer := time.NewTimer(pause)
			select {
			case <-ctx.Done():
				timer.Stop()
				return nil
			case <-a.orphaned:
				pause = firstSweep
				timer.Stop()
			case <-timer.C:
			}
		}
		a.wakeWarm()
	}
}
