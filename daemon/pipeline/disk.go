package pipeline

import (
	"sync"
	"time"

	"penstock.dev/penstock/memctl"
	"penstock.dev/penstock/shm/spill"
)

// Disk says when parked batches go to a disk. The batches of a writer keep their order wherever they are.
type Disk struct {
	Store *spill.Store
	// HighWater is how many bytes of parked batches a writer keeps in memory: the oldest, which it takes next.
	HighWater int64
	// Patience is how long more than that must have waited before any goes to the disk, so that a broker that keeps up costs none.
	Patience time.Duration
	// Strict fails the writer when the disk does not take a batch. Else the batch stays in memory, and the client waits for credit.
	Strict bool
}

// bytesOf is what the sessions of an account have on the disk. A nil Disk has nothing.
func (d *Disk) bytesOf(u memctl.Usage) (bytes uint64) {
	if d == nil {
		return 0
	}
	sessions := map[uint32]bool{}
	for _, o := range u.Owners {
		sessions[o.Owner.Session] = true
	}
	for _, f := range d.Store.Files() {
		if sessions[f.Owner] {
			bytes += uint64(f.Live)
		}
	}
	return bytes
}

// retryDisk is how long the disk is left alone after it has refused a batch.
const retryDisk = time.Second

// readBack is what a writer has reserved to read batches back: the largest of those that are on the disk. It is reserved before a batch
// goes there, so that no batch is on a disk that cannot be read for want of memory.
type readBack struct {
	share *memctl.Share

	mu      sync.Mutex
	bytes   uint64
	batches int
}

// hold reserves for one more batch. It never waits: a batch without it stays in memory.
func (r *readBack) hold(bytes int64) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if more := uint64(bytes) - r.bytes; uint64(bytes) > r.bytes {
		if err := r.share.Reserve(memctl.SpillReadBack, more); err != nil {
			return err
		}
		r.bytes = uint64(bytes)
	}
	r.batches++
	return nil
}

// release gives up one batch, and with the last one the reservation. What it cannot return the writer's end does.
func (r *readBack) release() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.batches--; r.batches == 0 && r.bytes > 0 {
		_ = r.share.Return(memctl.SpillReadBack, r.bytes)
		r.bytes = 0
	}
}
