package main

import (
	"context"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"penstock.dev/penstock/shm"
	"penstock.dev/penstock/shm/shmtest"
)

func duplicate(fd int) (*os.File, error) {
	copied, err := unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(copied), "segment"), nil
}

// leaseFigures: a lease from the warm pool, and one that the kernel has to make, of a segment of the default size.
func leaseFigures() ([]figure, error) {
	const segment = 32 << 20
	var warm, cold []time.Duration
	for range 40 {
		a, err := arenaOf(segment, 8)
		if err != nil {
			return nil, err
		}
		if err := a.FillWarm(context.Background()); err != nil {
			return nil, err
		}
		for range 8 {
			start := time.Now()
			if _, err := a.Lease(session, "bench"); err != nil {
				return nil, err
			}
			warm = append(warm, time.Since(start))
		}
		start := time.Now()
		if _, err := a.Lease(session, "bench"); err != nil {
			return nil, err
		}
		cold = append(cold, time.Since(start))
		a.Close()
	}
	return []figure{times("lease of a warm segment of 32 MiB", warm, time.Microsecond, 2, "p99.9"),
		times("lease that the kernel has to make", cold, time.Millisecond, 0, "")}, nil
}

// writeFigures: the same copy into a leased segment and into private memory, in turn.
func writeFigures() ([]figure, error) {
	const set = 16 << 20
	p, err := newPair(set + 1<<20)
	if err != nil {
		return nil, err
	}
	defer p.arena.Close()
	data, err := shmtest.MapSegment(p.data)
	if err != nil {
		return nil, err
	}
	defer data.Close()
	source, private := make([]byte, set), make([]byte, set)
	shared := data.Mem[shm.SegmentHeaderBytes:][:set]
	var into, beside []time.Duration
	for range 200 {
		into = append(into, copyTime(shared, source))
		beside = append(beside, copyTime(private, source))
	}
	gigabytes := func(samples []time.Duration) float64 {
		return float64(set) / (times("", samples, time.Nanosecond, 0, "").P50)
	}
	return []figure{
		{Name: "copy into private memory", Unit: "GB/s", P50: gigabytes(beside)},
		{Name: "copy into the arena", Unit: "GB/s", P50: gigabytes(into)},
		{Name: "arena write rate of memcpy", Unit: "%", P50: 100 * gigabytes(into) / gigabytes(beside), Bar: 90, Of: "p50", Least: true},
	}, nil
}

func copyTime(to, from []byte) time.Duration {
	start := time.Now()
	copy(to, from)
	return time.Since(start)
}

// revokeFigures: a session with ten thousand parked batches ends.
func revokeFigures() ([]figure, error) {
	var samples []time.Duration
	for range 50 {
		p, err := newPair(1 << 20)
		if err != nil {
			return nil, err
		}
		for i := range uint32(slots) {
			if _, err := p.peer.Park(p.table.First()+i, p.descriptor(4096)); err != nil {
				return nil, err
			}
		}
		start := time.Now()
		p.arena.Revoke(session)
		samples = append(samples, time.Since(start))
		_ = p.peer.Close()
		p.arena.Close()
	}
	return []figure{times("revoke of 10,000 parked slots", samples, time.Millisecond, 5, "p99")}, nil
}
