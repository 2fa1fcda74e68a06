package app

import (
	"context"

	"penstock.dev/penstock/daemon/config"
	"penstock.dev/penstock/daemon/pipeline"
	pb "penstock.dev/penstock/proto/gen/penstock/v1"
	"penstock.dev/penstock/shm/spill"
)

// openSpill opens the disk unless it is off.
func (a *App) openSpill() (err error) {
	c := &a.config.Spill
	if c.Mode == config.SpillOff {
		return nil
	}
	a.spill, err = spill.Open(spill.Config{Directory: c.Directory, Daemon: a.arena.ID(), Quota: int64(c.Quota)})
	return err
}

// disk is what the writers get; nil while it is off.
func (a *App) disk() *pipeline.Disk {
	if a.spill == nil {
		return nil
	}
	c := &a.config.Spill
	return &pipeline.Disk{Store: a.spill, HighWater: int64(c.HighWater), Patience: c.Patience.Std(), Strict: c.Mode == config.SpillOn}
}

func (a *App) closeSpill(ctx context.Context) error {
	if a.spill == nil {
		return nil
	}
	return a.spill.Close(ctx)
}

// spillStatus fills in what the disk says.
func (a *App) spillStatus(status *pb.GetStatusResponse) {
	status.Spill = &pb.SpillStatus{Mode: a.config.Spill.Mode}
	if a.spill == nil {
		return
	}
	s := a.spill.Stats()
	status.Memory.SpilledBytes = uint64(s.Bytes)
	status.Spill = &pb.SpillStatus{
		Mode: a.config.Spill.Mode, QuotaBytes: uint64(s.Quota), UsedBytes: uint64(s.Used), Files: uint32(s.Files), Batches: uint32(s.Batches),
		ReadBackBytes: uint64(s.ReadHeap), BatchesWritten: s.BatchesWritten, BatchesRead: s.BatchesRead, BytesWritten: s.BytesWritten,
		BytesRead: s.BytesRead, WriteFailures: s.WriteFailures, Refused: s.Refused, ReadFailures: s.ReadFailures,
	}
	for _, f := range a.spill.Files() {
		status.SpillFiles = append(status.SpillFiles, &pb.SpillFileStatus{Name: f.Name, SessionId: f.Owner, Bytes: uint64(f.Bytes),
			LiveBytes: uint64(f.Live), Batches: uint32(f.Batches)})
	}
}
