package shm

import "slices"

// Stats is the arena's ledger at one moment. Sizes are in bytes and include headers.
type Stats struct {
	Capacity int64
	// Used is Leased, Warm and Tables, segments in the making and revoked ones that the daemon still reads.
	Used   int64
	Leased int64
	Warm   int64
	Tables int64
	// Kernel is what the kernel holds for all segments. It equals Used when none is in the making or going; a lasting
	// difference is a defect.
	Kernel int64
	// LeasedSegments, WarmSegments and TableSegments count memfds; each costs one descriptor and one map.
	LeasedSegments, WarmSegments, TableSegments int
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
		Leased:         int64(len(a.leases)) * a.config.SegmentBytes,
		Warm:           int64(len(a.warm)) * a.config.SegmentBytes,
		LeasedSegments: len(a.leases),
		WarmSegments:   len(a.warm),
		TableSegments:  len(a.tables),
		Denied:         a.denied,
	}
	for _, t := range a.tables {
		s.Tables += t.segment.Bytes()
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
}

// Leases lists the granted data segments by segment id.
func (a *Arena) Leases() []LeaseInfo {
	a.mu.Lock()
	defer a.mu.Unlock()
	infos := make([]LeaseInfo, 0, len(a.leases))
	for id, l := range a.leases {
		infos = append(infos, LeaseInfo{id, l.owner, l.purpose, l.segment.Bytes()})
	}
	slices.SortFunc(infos, func(x, y LeaseInfo) int { return int(int64(x.SegmentID) - int64(y.SegmentID)) })
	return infos
}
