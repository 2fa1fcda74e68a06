package shm

// Own says which process a session acts for, by any name that no other process has. What is granted to the session from then on counts as
// that process's, also as an orphan after the session's end. Revoke ends it.
func (a *Arena) Own(owner uint32, process string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.closed {
		a.processes[owner] = process
	}
}

// mark makes m one of the owner's process.
func (a *Arena) mark(m *mapping, owner uint32) {
	a.mu.Lock()
	defer a.mu.Unlock()
	m.process = a.processes[owner]
}

// OrphanBytes is the part of Stats.Orphans that was granted to a process: it has not unmapped them, or a child of it has not.
func (a *Arena) OrphanBytes(process string) int64 {
	a.mu.Lock()
	defer a.mu.Unlock()
	var sum int64
	for _, m := range a.orphans {
		if m.process == process {
			sum += int64(len(m.mem))
		}
	}
	return sum
}
