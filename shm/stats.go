package shm

import "slices"

// Stats is the arena's ledger at one moment. Sizes are in bytes and include headers.
type Stats struct {
	Capacity int64
	// Used is Leased, Warm, Tables, Orphans, segments in the making and revoked ones that the daemon still reads.
	Used int64
	// Changing is the part of Used that the kernel is making or unmaking at this moment; the kernel has all the rest.
	Changing int64
	Leased   int64
	Warm     int64
	Tables   int64
	// Orphans are segments whose grant is over while a client still holds them.
	Orphans int64
	// Kernel is what the kernel holds for all segments: Used less Changing. A difference is a defect, or a client that punched a
	// hole.
	Kernel int64
	// LeasedSegments, WarmSegments and TableSegments count memfds; each costs one descriptor and one map.
	LeasedSegments, WarmSegments, TableSegments, OrphanSegments int
	// Denied counts refusals since the start.
	Denied uint64
}

// Stats reads the ledger and asks the kernel.
func (a *Arena) Stats() (Stats, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	s := Stats{
		Capacity:       a.config.Capacity,
		Used:           a.used,
		Changing:       a.changing,
		Leased:         int64(len(a.leases)) * a.config.SegmentBytes,
		Warm:           int64(len(a.warm)) * a.config.SegmentBytes,
		LeasedSegments: len(a.leases),
		WarmSegments:   len(a.warm),
		TableSegments:  len(a.tables),
		OrphanSegments: len(a.orphans),
		Denied:         a.denied,
	}
	for _, t := range a.tables {
		s.Tables += t.segment.Bytes()
	}
	for _, m := range a.orphans {
		s.Orphans += int64(len(m.mem))
	}
	for m := range a.live {
		n, err := kernelBytes(m.fd)
		if err != nil {
			return Stats{}, err
		}
		s.Kernel += n
	}
	return s, nil
}

// LeaseInfo is one granted data segment, for status output.
type LeaseInfo struct {
	SegmentID uint32
	Owner     uint32
	Purpose   string
	Bytes     int64
	// Kernel is what the kernel holds for it, in bytes.
	Kernel int64
}

// Leases lists the granted data segments by segment id; Kernel is 0 where the kernel does not say.
func (a *Arena) Leases() []LeaseInfo {
	a.mu.Lock()
	defer a.mu.Unlock()
	infos := make([]LeaseInfo, 0, len(a.leases))
	for id, l := range a.leases {
		kernel, _ := kernelBytes(l.segment.m.fd)
		infos = append(infos, LeaseInfo{id, l.owner, l.purpose, l.segment.Bytes(), kernel})
	}
	slices.SortFunc(infos, func(x, y LeaseInfo) int { return int(int64(x.SegmentID) - int64(y.SegmentID)) })
	return infos
}
