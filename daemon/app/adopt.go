package app

import (
	"errors"

	"golang.org/x/sys/unix"

	"penstock.dev/penstock/daemon/listen"
	"penstock.dev/penstock/daemon/telemetry"
	"penstock.dev/penstock/shm"
)

// adopt takes over the segments of the daemon's earlier life, which the service manager kept. What does not pass is closed, dropped
// from the manager's store and told; the daemon starts all the same.
func (a *App) adopt(kept []listen.Kept, keeper shm.Keeper) {
	times := map[string]int{}
	for _, k := range kept {
		times[k.Name]++
	}
	for _, k := range kept {
		if err := a.adoptOne(k, keeper, times[k.Name]); err != nil {
			a.counters.SegmentsRefused.Add(1)
			a.log.Warn("a segment of the daemon's earlier life is given up", telemetry.FieldSegment, k.Name, telemetry.FieldReason, err)
			continue
		}
		a.counters.SegmentsAdopted.Add(1)
	}
	if len(kept) == 0 {
		return
	}
	stats, err := a.arena.Stats()
	if err != nil {
		a.log.Warn("the kernel does not tell the size of the segments", telemetry.FieldError, err)
	}
	a.log.Info("segments of the daemon's earlier life were taken over; clients of that life still hold those that are orphans",
		telemetry.FieldAdopted, a.counters.SegmentsAdopted.Load(), telemetry.FieldRefused, a.counters.SegmentsRefused.Load(),
		telemetry.FieldOrphans, stats.OrphanSegments, telemetry.FieldWarm, stats.WarmSegments)
}

// adoptOne refuses a name that several descriptors have: the manager forgets by name, and would forget the right one with the wrong.
func (a *App) adoptOne(k listen.Kept, keeper shm.Keeper, times int) error {
	if times == 1 {
		return a.arena.Adopt(k.Name, k.FD)
	}
	unix.Close(k.FD)
	if keeper != nil {
		keeper.Forget(k.Name)
	}
	return errors.New("several descriptors have this name")
}
