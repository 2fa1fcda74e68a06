package shm

// What becomes of a segment whose grant is over, returned or revoked, when the daemon has read its last batch:
//
//	nobody else holds it    data: wiped, and warm for the next lease of any session while the pool has room; else destroyed
//	a client holds it       an orphan: not reused, since that client could read and write it, and not forgotten, since the kernel
//	                        keeps its pages. Sweep looks at it again
//	the kernel cannot say   destroyed; the pages go when the client unmaps them
//
// A segment is never shrunk or punched: a client that touches a page which is gone gets SIGBUS.

// retire decides.
func (a *Arena) retire(m *mapping) {
	held, known := m.held()
	switch {
	case held && a.addOrphan(m):
		if a.config.Orphaned != nil {
			a.config.Orphaned()
		}
	case !held && known && int64(len(m.mem)) == a.config.SegmentBytes:
		a.recycle(m)
	default:
		a.destroy(m)
	}
}

// addOrphan makes m an orphan, unless the arena is closed.
func (a *Arena) addOrphan(m *mapping) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed {
		return false
	}
	a.orphans = append(a.orphans, m)
	return true
}

// recycle wipes m, so that no session reads another's rows, and keeps it warm if there is room and all its pages exist: to touch a
// page that a client has punched out would be a first touch, which kills at a memory limit.
func (a *Arena) recycle(m *mapping) {
	a.mu.Lock()
	room := !a.closed && len(a.warm) < a.config.WarmSegments
	a.mu.Unlock()
	if bytes, err := kernelBytes(m.fd); !room || err != nil || bytes < int64(len(m.mem)) {
		a.destroy(m)
		return
	}
	clear(m.mem)
	a.keepWarm(m)
}

// Sweep retires the orphans that nobody holds any more and returns how many are left.
func (a *Arena) Sweep() int {
	a.mu.Lock()
	var free []*mapping
	kept := a.orphans[:0]
	for _, m := range a.orphans {
		if held, known := m.held(); held && known {
			kept = append(kept, m)
		} else {
			free = append(free, m)
		}
	}
	clear(a.orphans[len(kept):])
	a.orphans = kept
	left := len(kept)
	a.mu.Unlock()
	for _, m := range free {
		a.retire(m)
	}
	return left
}
