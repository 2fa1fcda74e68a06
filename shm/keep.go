package shm

import "fmt"

// KeptPrefix begins the name of each descriptor that a Keeper gets.
const KeptPrefix = "penstock-segment-"

// dataFile begins the file name of each data segment, as the kernel shows it.
const dataFile = "penstock-data-"

// Keeper holds descriptors of data segments beyond the end of this process, and hands them to the next daemon, which adopts them.
// A service manager does. Its methods are called from any goroutine, and must end in bounded time.
type Keeper interface {
	// Keep holds the open file behind fd, not another of the same memory, under a name that is used once. A keeper that cannot is
	// harmless: the memory then ends with the process.
	Keep(name string, fd int)
	// Forget lets go of what is held under the name, if anything, before it returns.
	Forget(name string)
}

// keep gives a data segment to the keeper. Not when the kernel does not say who holds it: then clients have the very open file
// that the keeper would hand on, and the next daemon would take it for its own.
func (a *Arena) keep(m *mapping) {
	if a.config.Keeper == nil || !m.probes {
		return
	}
	a.mu.Lock()
	a.nextKept++
	m.kept = fmt.Sprintf("%s%016x-%d", KeptPrefix, a.id, a.nextKept)
	a.mu.Unlock()
	a.config.Keeper.Keep(m.kept, m.fd)
}

// forget has the keeper let go of m, which is closed already: the kernel frees the pages with the last descriptor. A closed arena
// leaves its segments to the next daemon.
func (a *Arena) forget(m *mapping) {
	a.mu.Lock()
	closed := a.closed
	a.mu.Unlock()
	if a.config.Keeper != nil && m.kept != "" && !closed {
		a.config.Keeper.Forget(m.kept)
	}
}
