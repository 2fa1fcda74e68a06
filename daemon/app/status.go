package app

import (
	"cmp"
	"slices"
	"time"

	"penstock.dev/penstock/daemon/telemetry"
	pb "penstock.dev/penstock/proto/gen/penstock/v1"
)

// Status is the one snapshot that GetStatus and the metrics show. It is safe for concurrent use.
func (a *App) Status() *pb.GetStatusResponse {
	sessions, writers := a.sessions.Status(), a.sink.Status()
	slices.SortFunc(sessions, func(x, y *pb.SessionStatus) int { return cmp.Compare(x.GetSessionId(), y.GetSessionId()) })
	slices.SortFunc(writers, func(x, y *pb.WriterStatus) int { return cmp.Compare(x.GetWriterId(), y.GetWriterId()) })
	return &pb.GetStatusResponse{
		Version:           Version(),
		ArenaId:           a.arena.ID(),
		UptimeMillis:      uint64(time.Since(a.started).Milliseconds()),
		Serving:           a.serving.Load(),
		Sessions:          sessions,
		Writers:           writers,
		Memory:            a.memory(),
		Producers:         uint64(max(0, a.engine.Producers())),
		Counters:          a.counters.Status(),
		LibrdkafkaVersion: a.engine.Name(),
	}
}

func (a *App) memory() *pb.MemoryStatus {
	stats, err := a.arena.Stats()
	if err != nil {
		a.log.Warn("the kernel does not tell the size of the segments", telemetry.FieldError, err)
		stats.Capacity = int64(a.config.Arena.Capacity)
	}
	return &pb.MemoryStatus{
		CapacityBytes: uint64(stats.Capacity),
		LeasedBytes:   uint64(stats.Leased),
		WarmBytes:     uint64(stats.Warm),
		KernelBytes:   uint64(stats.Kernel),
		Segments:      uint32(stats.LeasedSegments + stats.WarmSegments + stats.TableSegments),
		DeniedLeases:  a.counters.LeasesDenied.Load(),
	}
}
