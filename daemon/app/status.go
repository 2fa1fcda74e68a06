package app

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"penstock.dev/penstock/daemon/telemetry"
	"penstock.dev/penstock/memctl"
	pb "penstock.dev/penstock/proto/gen/penstock/v1"
	"penstock.dev/penstock/shm"
)

// Status is the one snapshot that GetStatus and the metrics show. It is safe for concurrent use.
func (a *App) Status() *pb.GetStatusResponse {
	sessions, writers := a.sessions.Status(), a.sink.Status()
	slices.SortFunc(sessions, func(x, y *pb.SessionStatus) int { return cmp.Compare(x.GetSessionId(), y.GetSessionId()) })
	slices.SortFunc(writers, func(x, y *pb.WriterStatus) int { return cmp.Compare(x.GetWriterId(), y.GetWriterId()) })
	status := &pb.GetStatusResponse{
		Version:           Version(),
		ArenaId:           a.arena.ID(),
		UptimeMillis:      uint64(time.Since(a.started).Milliseconds()),
		Serving:           a.serving.Load(),
		Sessions:          sessions,
		Writers:           writers,
		Memory:            a.memory(),
		Accounts:          a.accounts(),
		Leases:            a.leases(),
		ProducerList:      a.sink.Producers(),
		Producers:         uint64(max(0, a.engine.Producers())),
		Counters:          a.counters.Status(),
		LibrdkafkaVersion: a.engine.Name(),
	}
	a.spillStatus(status)
	return status
}

func (a *App) memory() *pb.MemoryStatus {
	var parked, pinned int64
	for _, x := range a.sessions.All() {
		counts := x.Counts()
		parked += counts.Bytes[shm.Parked]
		pinned += counts.Bytes[shm.Claimed]
	}
	stats, err := a.arena.Stats()
	if err != nil {
		a.log.Warn("the kernel does not tell the size of the segments", telemetry.FieldError, err)
		stats.Capacity = int64(a.config.Arena.Capacity)
	}
	return &pb.MemoryStatus{
		CapacityBytes:   uint64(stats.Capacity),
		LeasedBytes:     uint64(stats.Leased),
		WarmBytes:       uint64(stats.Warm),
		KernelBytes:     uint64(stats.Kernel),
		Segments:        uint32(stats.LeasedSegments + stats.WarmSegments + stats.TableSegments),
		DeniedLeases:    a.counters.LeasesDenied.Load(),
		TableBytes:      uint64(stats.Tables),
		ParkedBytes:     uint64(parked),
		PinnedBytes:     uint64(pinned),
		OrphanBytes:     uint64(stats.Orphans),
		OrphanSegments:  uint32(stats.OrphanSegments),
		DifferenceBytes: a.counters.Difference.Load(),
		Differences:     a.counters.Differences.Load(),
		AdoptedSegments: uint32(a.counters.SegmentsAdopted.Load()),
		RefusedSegments: uint32(a.counters.SegmentsRefused.Load()),
	}
}

// StatusWithSlots is Status with every slot that is in use.
func (a *App) StatusWithSlots() *pb.GetStatusResponse {
	status := a.Status()
	for _, x := range a.sessions.All() {
		for _, slot := range x.Slots() {
			state := "invalid"
			if slot.Valid {
				state = strings.ToLower(slot.State.String())
			}
			status.Slots = append(status.Slots, &pb.SlotStatus{Slot: slot.Slot, SessionId: x.ID(), Generation: slot.Generation,
				State: state, SegmentId: slot.SegmentID, Bytes: uint64(slot.Bytes), Rows: slot.Rows})
		}
	}
	slices.SortFunc(status.Slots, func(x, y *pb.SlotStatus) int { return cmp.Compare(x.GetSlot(), y.GetSlot()) })
	return status
}

// accounts has the batches in flight of each process beside what the ledger says.
func (a *App) accounts() []*pb.AccountStatus {
	inFlight := map[uint32]int64{}
	for _, x := range a.sessions.All() {
		counts := x.Counts()
		inFlight[x.ID()] = counts.Bytes[shm.Parked] + counts.Bytes[shm.Claimed]
	}
	var list []*pb.AccountStatus
	for _, u := range a.ledger.Usage() {
		account := &pb.AccountStatus{
			Process: u.Process, CapacityBytes: u.Capacity, ReservedBytes: u.Reserved, AvailableBytes: u.Available, PromisedBytes: u.Promised,
			PeakBytes: u.Peak, Denied: u.Denied, Waits: u.Waits, ByPurpose: byPurpose(u.By),
		}
		for _, o := range u.Owners {
			account.Owners = append(account.Owners, ownerStatus(o))
			if o.Owner.Writer == 0 {
				account.InFlightBytes += uint64(inFlight[o.Owner.Session])
			}
		}
		list = append(list, account)
	}
	return list
}

func ownerStatus(o memctl.OwnerUsage) *pb.OwnerStatus {
	return &pb.OwnerStatus{
		SessionId: o.Owner.Session, WriterId: o.Owner.Writer, JobId: o.Owner.Job, Vertex: o.Owner.Vertex, TaskName: o.Owner.Task,
		Subtask: o.Owner.Subtask, Attempt: o.Owner.Attempt, MinimumBytes: o.Minimum, ByPurpose: byPurpose(o.Held),
	}
}

func byPurpose(amounts memctl.Amounts) []*pb.PurposeBytes {
	var list []*pb.PurposeBytes
	for _, p := range memctl.Purposes() {
		list = append(list, &pb.PurposeBytes{Purpose: p.String(), Bytes: amounts[p]})
	}
	return list
}

func (a *App) leases() []*pb.LeaseStatus {
	var list []*pb.LeaseStatus
	for _, l := range a.arena.Leases() {
		list = append(list, &pb.LeaseStatus{SegmentId: l.SegmentID, SessionId: l.Owner, Purpose: l.Purpose, Bytes: uint64(l.Bytes),
			KernelBytes: uint64(l.Kernel)})
	}
	return list
}
