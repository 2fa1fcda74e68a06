package shm

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"sync"
)

// Config sizes an arena.
type Config struct {
	// Capacity bounds the bytes of all segments together: granted, warm and tables.
	Capacity int64
	// SegmentBytes is the size of every data segment, its header of 4096 bytes included; a multiple of the page size.
	SegmentBytes int64
	// WarmSegments is how many populated data segments FillWarm keeps ready, and how many of those that come back are kept.
	WarmSegments int
	// Headroom, when set, says how much memory the kernel would still give this process, and who limits it. A page beyond a memory
	// controller's limit is no error but the end of the process, so the arena asks before it makes a segment.
	Headroom func() (bytes int64, limit string, known bool)
	// Orphaned, when set, is called when a segment has come back that a client still holds; Sweep must follow. It must not block.
	Orphaned func()
	// Keeper, when set, holds the data segments beyond the end of this process; see Adopt.
	Keeper Keeper
}

// Arena is all shared memory of one daemon life. Safe for concurrent use.
type Arena struct {
	config Config
	id     uint64

	// making is held while the kernel makes memory. It is taken before mu, never under it.
	making sync.Mutex

	// mu guards what follows. It is never held while the kernel makes, fills or unmaps memory.
	mu       sync.Mutex
	closed   bool
	nextID   uint32
	nextSlot uint64
	nextKept uint64
	// used is in bytes and counts memory from before it exists until after it is gone.
	used int64
	// changing is the part of used that is being made or unmade by the kernel; the rest is live.
	changing int64
	denied   uint64
	live     map[*mapping]struct{}
	// orphans are live mappings whose grant is over and which a client still holds.
	orphans []*mapping
	warm    []*mapping
	leases  map[uint32]*lease
	tables  map[uint32]*Table // by session
	// processes names those of sessions; see Own.
	processes map[uint32]string
}

// lease is the daemon's private record of who holds a data segment.
type lease struct {
	segment *Segment
	owner   uint32
	purpose string
}

// NewArena prepares an arena with a random id. It allocates nothing yet; FillWarm does. The error names the setting that
// is wrong and its value.
func NewArena(c Config) (*Arena, error) {
	page := int64(os.Getpagesize())
	switch {
	case !littleEndian():
		return nil, errors.New("shared memory needs a little-endian machine (shm/LAYOUT.md)")
	case c.SegmentBytes < 2*SegmentHeaderBytes || c.SegmentBytes%page != 0 || c.SegmentBytes > math.MaxInt32:
		return nil, fmt.Errorf("segment size %d: use a multiple of the page size %d, from %d bytes to below 2 GiB, "+
			"which is the most that a JVM maps at once", c.SegmentBytes, page, 2*SegmentHeaderBytes)
	case c.Capacity < c.SegmentBytes:
		return nil, fmt.Errorf("arena capacity %d: use at least one segment, %d bytes", c.Capacity, c.SegmentBytes)
	case c.WarmSegments < 0 || int64(c.WarmSegments) > c.Capacity/c.SegmentBytes:
		return nil, fmt.Errorf("%d warm segments of %d bytes: the arena capacity of %d bytes holds %d",
			c.WarmSegments, c.SegmentBytes, c.Capacity, c.Capacity/c.SegmentBytes)
	}
	var id [8]byte
	if _, err := rand.Read(id[:]); err != nil {
		return nil, fmt.Errorf("random arena id: %w", err)
	}
	return &Arena{
		config: c,
		id:     binary.LittleEndian.Uint64(id[:]),
		live:   map[*mapping]struct{}{},
		leases: map[uint32]*lease{},
		tables: map[uint32]*Table{},

		processes: map[uint32]string{},
	}, nil
}

// ID identifies this daemon life; it stands in every segment's header and in every handle.
func (a *Arena) ID() uint64 { return a.id }

// SegmentBytes is the size of every data segment in bytes.
func (a *Arena) SegmentBytes() int64 { return a.config.SegmentBytes }

// MaxBatchBytes is the largest batch that a data segment can hold.
func (a *Arena) MaxBatchBytes() int64 { return a.config.SegmentBytes - SegmentHeaderBytes }

// Lease grants a populated data segment to a session; purpose is for messages and status output. It takes a warm segment
// if there is one, else it makes one, which takes a millisecond for each two MiB. Errors: *DeniedError, ErrClosed.
func (a *Arena) Lease(owner uint32, purpose string) (*Segment, error) {
	m, err := a.takeWarm()
	if err != nil {
		return nil, err
	}
	if m == nil {
		if m, err = a.createData(owner, purpose); err != nil {
			return nil, err
		}
	}
	id, err := a.segmentID()
	if err != nil {
		a.destroy(m)
		return nil, err
	}
	a.mark(m, owner)
	s := a.newSegment(m, id, DataSegment, 0, 0)
	if err := a.addLease(&lease{s, owner, purpose}); err != nil {
		s.unpin()
		return nil, err
	}
	return s, nil
}

func (a *Arena) addLease(l *lease) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed {
		return ErrClosed
	}
	a.leases[l.segment.id] = l
	return nil
}

// takeWarm takes a warm mapping, the one used last; nil when there is none.
func (a *Arena) takeWarm() (*mapping, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed {
		return nil, ErrClosed
	}
	n := len(a.warm)
	if n == 0 {
		return nil, nil
	}
	m := a.warm[n-1]
	a.warm = a.warm[:n-1]
	return m, nil
}

func (a *Arena) segmentID() (uint32, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.nextID == math.MaxUint32 {
		return 0, errors.New("this daemon has used up its segment ids; restart it")
	}
	a.nextID++
	return a.nextID, nil
}

func (a *Arena) createData(owner uint32, purpose string) (*mapping, error) {
	m, err := a.create(dataFile, a.config.SegmentBytes, owner, purpose)
	if err == nil {
		a.keep(m)
	}
	return m, err
}

// create reserves room in the ledger, and only then makes the memory.
func (a *Arena) create(name string, size int64, owner uint32, purpose string) (*mapping, error) {
	if err := a.reserve(size, owner, purpose); err != nil {
		return nil, err
	}
	m, err := a.make(fmt.Sprintf("%s%x", name, a.id), size)
	a.mu.Lock()
	defer a.mu.Unlock()
	a.changing -= size
	if err != nil {
		a.used -= size
		a.denied++
		return nil, &DeniedError{Owner: owner, Purpose: purpose, Requested: size, Used: a.used, Capacity: a.config.Capacity, Cause: err}
	}
	a.live[m] = struct{}{}
	return m, nil
}

// make asks the kernel for a mapping, one at a time: two that each fit into the headroom may not fit together.
func (a *Arena) make(name string, size int64) (*mapping, error) {
	a.making.Lock()
	defer a.making.Unlock()
	if a.config.Headroom != nil {
		if room, limit, known := a.config.Headroom(); known && size > room {
			return nil, fmt.Errorf("%d bytes are left to this process below the memory limit of %s", room, limit)
		}
	}
	return createMapping(name, size)
}

// reserve counts size bytes as used. Orphans that nobody holds any more, and warm segments, give way when nothing else is left.
func (a *Arena) reserve(size int64, owner uint32, purpose string) error {
	swept := false
	for {
		a.mu.Lock()
		if a.closed {
			a.mu.Unlock()
			return ErrClosed
		}
		if size <= a.config.Capacity-a.used {
			a.used += size
			a.changing += size
			a.mu.Unlock()
			return nil
		}
		n := len(a.warm)
		if n == 0 && len(a.orphans) > 0 && !swept {
			a.mu.Unlock()
			a.Sweep()
			swept = true
			continue
		}
		if n == 0 {
			a.denied++
			err := &DeniedError{Owner: owner, Purpose: purpose, Requested: size, Used: a.used, Capacity: a.config.Capacity}
			a.mu.Unlock()
			return err
		}
		victim := a.warm[n-1]
		a.warm = a.warm[:n-1]
		a.mu.Unlock()
		a.destroy(victim)
	}
}

// destroy unmaps m, has the keeper let go of it, and only then gives its bytes back to the ledger.
func (a *Arena) destroy(m *mapping) {
	size := int64(len(m.mem))
	a.mu.Lock()
	delete(a.live, m)
	a.changing += size
	a.mu.Unlock()
	m.close()
	a.forget(m)
	a.mu.Lock()
	a.used -= size
	a.changing -= size
	a.mu.Unlock()
}

// Return takes a data segment back from its session, which has unmapped it and has no slot that names it; see retire for what
// becomes of the memory. Errors: *ForeignError, ErrClosed.
func (a *Arena) Return(owner, segmentID uint32) error {
	a.mu.Lock()
	l := a.leases[segmentID]
	if a.closed || l == nil || l.owner != owner {
		defer a.mu.Unlock()
		if a.closed {
			return ErrClosed
		}
		return &ForeignError{owner, "segment", segmentID, "is not leased to this session"}
	}
	delete(a.leases, segmentID)
	a.mu.Unlock()
	// It may take until the daemon has read a batch of it, against the client's promise.
	l.segment.unpin()
	return nil
}

// keepWarm puts m into the pool of warm segments, unless that is full or the arena is closed: then m is destroyed.
func (a *Arena) keepWarm(m *mapping) {
	a.mu.Lock()
	keep := !a.closed && len(a.warm) < a.config.WarmSegments
	if keep {
		a.warm = append(a.warm, m)
	}
	a.mu.Unlock()
	if !keep {
		a.destroy(m)
	}
}

// FillWarm makes warm segments until there are Config.WarmSegments, the capacity is used up, or ctx is done. It is for a
// background task; only a kernel's refusal (*DeniedError with a cause), ctx's end and ErrClosed are errors.
func (a *Arena) FillWarm(ctx context.Context) error {
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		a.mu.Lock()
		enough := len(a.warm) >= a.config.WarmSegments || a.config.SegmentBytes > a.config.Capacity-a.used
		closed := a.closed
		a.mu.Unlock()
		if closed {
			return ErrClosed
		}
		if enough {
			return nil
		}
		m, err := a.createData(Daemon, "warm segment")
		if err != nil {
			return err
		}
		a.keepWarm(m)
	}
}

// Revoke ends everything that a session holds: its slots go to FREE with their generation raised, and its table and data
// segments are retired as soon as nobody in the daemon reads them. Revoke is idempotent; it returns how many segments there
// were.
func (a *Arena) Revoke(owner uint32) int {
	a.mu.Lock()
	var segments []*Segment
	for id, l := range a.leases {
		if l.owner == owner {
			segments = append(segments, l.segment)
			delete(a.leases, id)
		}
	}
	table := a.tables[owner]
	delete(a.tables, owner)
	delete(a.processes, owner)
	a.mu.Unlock()
	if table != nil {
		table.RevokeAll()
		segments = append(segments, table.segment)
	}
	for _, s := range segments {
		s.unpin()
	}
	return len(segments)
}

// Close revokes every session and unmaps everything that nobody in the daemon reads; what is pinned follows with its last
// pin. What the keeper holds stays there for the next daemon. Later calls get ErrClosed.
func (a *Arena) Close() {
	a.mu.Lock()
	a.closed = true
	owners := map[uint32]struct{}{}
	for _, l := range a.leases {
		owners[l.owner] = struct{}{}
	}
	for owner := range a.tables {
		owners[owner] = struct{}{}
	}
	idle := append(a.warm, a.orphans...)
	a.warm, a.orphans = nil, nil
	a.mu.Unlock()
	for owner := range owners {
		a.Revoke(owner)
	}
	for _, m := range idle {
		a.destroy(m)
	}
}

// pinLease pins a data segment for reading, if it is leased to owner. The caller unpins.
func (a *Arena) pinLease(owner, segmentID uint32) (*Segment, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if l := a.leases[segmentID]; l != nil && l.owner == owner && l.segment.pin() {
		return l.segment, nil
	}
	return nil, &ForeignError{owner, "segment", segmentID, "is not leased to this session"}
}
