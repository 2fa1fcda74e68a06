package shm

import (
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"sync/atomic"
)

// Table is one session's range of the handle table, in a segment of its own: no client can write into another's slots.
// Slot numbers are global and never used again in one daemon life, so a handle of a past session finds no slot.
//
// The session may scribble on its slots. Therefore each slot has a shadow in private memory: which generation was claimed
// last, by whom, and whether it is settled. A word that a client turns back, by mistake or not, cannot make the daemon take
// the same batch twice. Safe for concurrent use.
type Table struct {
	segment *Segment
	owner   uint32
	first   uint32
	count   uint32
	revoked atomic.Bool
	shadows []atomic.Uint64
	// maxBatch is the largest batch there can be, in bytes.
	maxBatch int64
}

// shadow is generation (32 bits, high), claimer (24), busy (1 bit, at 1), seen (1 bit, at 0). Zero: never claimed.
type shadow uint64

const (
	shadowSeen shadow = 1 << iota
	shadowBusy
)

func claimedShadow(generation, by uint32) shadow {
	return shadow(generation)<<32 | shadow(by)<<8 | shadowBusy | shadowSeen
}

// NewTable makes the table of a session with count slots. Errors: *DeniedError, ErrClosed, and one that says that the
// session has a table already or that the owner or count is out of range.
func (a *Arena) NewTable(owner, count uint32) (*Table, error) {
	if owner == Daemon || owner > MaxOwner {
		return nil, fmt.Errorf("session id %d: use 1 to %d", owner, MaxOwner)
	}
	if count == 0 || count > 1<<24 {
		return nil, fmt.Errorf("%d slots for session %d: use 1 to %d", count, owner, 1<<24)
	}
	first, err := a.slotRange(count)
	if err != nil {
		return nil, err
	}
	page := int64(os.Getpagesize())
	size := (SegmentHeaderBytes + int64(count)*SlotBytes + page - 1) / page * page
	m, err := a.create("penstock-table-", size, owner, "handle table")
	if err != nil {
		return nil, err
	}
	id, err := a.segmentID()
	if err != nil {
		a.destroy(m)
		return nil, err
	}
	a.mark(m, owner)
	t := &Table{
		segment: a.newSegment(m, id, TableSegment, first, count),
		owner:   owner, first: first, count: count,
		shadows: make([]atomic.Uint64, count), maxBatch: a.MaxBatchBytes(),
	}
	if err := a.addTable(t); err != nil {
		t.segment.unpin()
		return nil, err
	}
	return t, nil
}

func (a *Arena) slotRange(count uint32) (uint32, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.nextSlot+uint64(count) > math.MaxUint32 {
		return 0, fmt.Errorf("no %d slot numbers are left in this daemon's life; restart it", count)
	}
	first := uint32(a.nextSlot)
	a.nextSlot += uint64(count)
	return first, nil
}

func (a *Arena) addTable(t *Table) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed {
		return ErrClosed
	}
	if a.tables[t.owner] != nil {
		return fmt.Errorf("session %d has a handle table already", t.owner)
	}
	a.tables[t.owner] = t
	return nil
}

// Segment is the memfd of the table.
func (t *Table) Segment() *Segment { return t.segment }

// Owner is the session's id.
func (t *Table) Owner() uint32 { return t.owner }

// First is the number of the first slot.
func (t *Table) First() uint32 { return t.first }

// Count is the number of slots.
func (t *Table) Count() uint32 { return t.count }

// slot is the memory of one slot; the caller holds a pin.
func (t *Table) slot(number uint32) ([]byte, error) {
	if number < t.first || number-t.first >= t.count {
		return nil, &ForeignError{t.owner, "slot", number,
			fmt.Sprintf("is outside this session's range, %d to %d", t.first, t.first+t.count-1)}
	}
	at := SegmentHeaderBytes + int(number-t.first)*SlotBytes
	return t.segment.m.mem[at : at+SlotBytes : at+SlotBytes], nil
}

// checkParked tells whether a word says that the session's batch of this generation waits to be claimed.
func (t *Table) checkParked(slot, generation uint32, w Word) error {
	switch {
	case w.Generation() != generation:
		return &StaleError{slot, generation, w, "the generation has passed"}
	case w.State() == Parked && w.Owner() != t.owner:
		return &ForeignError{t.owner, "slot", slot, fmt.Sprintf("was parked in the name of session %d", w.Owner())}
	case w.State() != Parked && w.State() != OnDisk:
		return &StaleError{slot, generation, w, "there is no batch to claim"}
	}
	return nil
}

// Claim takes ownership of the batch that a slot holds, in the name of by (Daemon, or a session). Of any number of callers
// at most one succeeds for one generation. Errors: *StaleError, *ForeignError, ErrClosed.
func (t *Table) Claim(slot, generation, by uint32) error {
	return t.take(slot, generation, by, Claim)
}

// take makes a move, Claim or Spill, after which nobody else can take the batch.
func (t *Table) take(slot, generation, by uint32, move Move) error {
	if !t.segment.pin() {
		return ErrClosed
	}
	defer t.segment.unpin()
	mem, err := t.slot(slot)
	if err != nil {
		return err
	}
	addr := WordAt(mem, SlotState)
	from := Word(atomic.LoadUint64(addr))
	stale := func(found Word, reason string) error { return &StaleError{slot, generation, found, reason} }
	if t.revoked.Load() {
		return stale(from, "the session was revoked")
	}
	if err := t.checkParked(slot, generation, from); err != nil {
		return err
	}
	sh := &t.shadows[slot-t.first]
	old := sh.Load()
	switch {
	case shadow(old)&shadowBusy != 0:
		return stale(from, "the slot is claimed and not settled")
	case shadow(old)&shadowSeen != 0 && int32(generation-uint32(old>>32)) <= 0:
		return stale(from, "this generation was claimed before")
	case !sh.CompareAndSwap(old, uint64(claimedShadow(generation, by))):
		return stale(from, "it was claimed at this moment")
	}
	if found, err := move.Swap(addr, from, by); err != nil {
		sh.CompareAndSwap(uint64(claimedShadow(generation, by)), old)
		return stale(found, "it changed while it was claimed")
	}
	return nil
}

// Settle gives the memory of a claimed batch back to the session: the slot goes to FREE and its generation is raised.
// Nobody may read the extent afterwards. Errors: *StaleError when the claim is not by's or was revoked, or when the client
// overwrote the word; *ForeignError; ErrClosed.
func (t *Table) Settle(slot, generation, by uint32) error {
	return t.finish(slot, generation, by, Claimed, Settle)
}

// finish makes moves, the last of which is Settle, from a state in which by has taken the batch.
func (t *Table) finish(slot, generation, by uint32, from State, moves ...Move) error {
	if !t.segment.pin() {
		return ErrClosed
	}
	defer t.segment.unpin()
	mem, err := t.slot(slot)
	if err != nil {
		return err
	}
	addr := WordAt(mem, SlotState)
	claimed := claimedShadow(generation, by)
	// The shadow first: once the word is FREE the session may park the next generation at any moment.
	if !t.shadows[slot-t.first].CompareAndSwap(uint64(claimed), uint64(claimed&^shadowBusy)) {
		return &StaleError{slot, generation, Word(atomic.LoadUint64(addr)), fmt.Sprintf("owner %d has no claim to settle", by)}
	}
	word := MakeWord(generation, from, by)
	for _, move := range moves {
		if word, err = move.Swap(addr, word, by); err != nil {
			return &StaleError{slot, generation, word, "the word changed while the batch was claimed"}
		}
	}
	return nil
}

// Spill takes the batch that a slot holds for the time in which the daemon writes it to a disk: it cannot be claimed meanwhile. Errors
// are those of Claim; the batch must be in memory.
func (t *Table) Spill(slot, generation uint32) error {
	return t.take(slot, generation, Daemon, Spill)
}

// Spilled tells that the disk has the batch: it passes through ON_DISK and CLAIMED to FREE, since the daemon holds its handle itself and
// claims it from the disk. The session may use the extent again. Errors are those of Settle.
func (t *Table) Spilled(slot, generation uint32) error {
	return t.finish(slot, generation, Daemon, Spilling, Spilled, Claim, Settle)
}

// SpillFailed parks the batch again, unharmed, in the name of its session. Errors are those of Settle.
func (t *Table) SpillFailed(slot, generation uint32) error {
	if !t.segment.pin() {
		return ErrClosed
	}
	defer t.segment.unpin()
	mem, err := t.slot(slot)
	if err != nil {
		return err
	}
	addr := WordAt(mem, SlotState)
	// As if the generation before were the last one seen: this one can be claimed once more.
	before := claimedShadow(generation-1, Daemon) &^ shadowBusy
	if !t.shadows[slot-t.first].CompareAndSwap(uint64(claimedShadow(generation, Daemon)), uint64(before)) {
		return &StaleError{slot, generation, Word(atomic.LoadUint64(addr)), "the daemon does not spill it"}
	}
	if found, err := SpillFailed.Swap(addr, MakeWord(generation, Spilling, Daemon), t.owner); err != nil {
		return &StaleError{slot, generation, found, "the word changed while the batch was spilled"}
	}
	return nil
}

// RevokeAll brings every slot to FREE with its generation raised and lets nothing be claimed any more. It returns how many
// slots were in use. It is the end of the table; Arena.Revoke calls it.
func (t *Table) RevokeAll() int {
	if !t.segment.pin() {
		return 0
	}
	defer t.segment.unpin()
	t.revoked.Store(true)
	n := 0
	for i := range t.count {
		mem, _ := t.slot(t.first + i)
		if revokeWord(WordAt(mem, SlotState)) {
			n++
		}
	}
	return n
}

// revokeWord frees one slot and tells whether it was in use. A word that has no state, or that its client keeps changing,
// is overwritten: the session has ended and whatever it says no longer counts.
func revokeWord(addr *uint64) bool {
	for range 8 {
		from := Word(atomic.LoadUint64(addr))
		if from.State() == Free {
			return false
		}
		if _, err := Revoke.Swap(addr, from, Daemon); err == nil {
			return true
		}
	}
	generation := Word(atomic.LoadUint64(addr)).Generation()
	atomic.StoreUint64(addr, uint64(MakeWord(generation+1, Free, Daemon)))
	return true
}

// SlotCounts is the number of slots by state.
type SlotCounts struct {
	// States is indexed by State.
	States [stateCount]int
	// Bytes are the lengths of the batches by state, as far as a segment can hold them.
	Bytes [stateCount]int64
	// Invalid counts words that have no state.
	Invalid int
}

// Counts scans the words of the table. Words change meanwhile, so the sum is right and the parts are approximate.
func (t *Table) Counts() SlotCounts {
	var c SlotCounts
	if !t.segment.pin() {
		return c
	}
	defer t.segment.unpin()
	for i := range t.count {
		mem, _ := t.slot(t.first + i)
		if s := Word(atomic.LoadUint64(WordAt(mem, SlotState))).State(); s < stateCount {
			c.States[s]++
			if s != Free && s != Reserved {
				c.Bytes[s] += t.length(mem)
			}
		} else {
			c.Invalid++
		}
	}
	return c
}

// length is the length in a slot, not more than a data segment can hold: the client wrote it.
func (t *Table) length(mem []byte) int64 {
	return int64(min(binary.LittleEndian.Uint64(mem[SlotLength:]), uint64(t.maxBatch)))
}

// SlotInfo is one slot in use, as the client wrote it, for status output.
type SlotInfo struct {
	Slot, Generation uint32
	// State is that of the word; Valid is false when the word has none.
	State     State
	Valid     bool
	SegmentID uint32
	Bytes     int64
	Rows      uint32
}

// Slots lists the slots that are not free.
func (t *Table) Slots() []SlotInfo {
	if !t.segment.pin() {
		return nil
	}
	defer t.segment.unpin()
	var list []SlotInfo
	for number := t.first; number < t.first+t.count; number++ {
		mem, _ := t.slot(number)
		w := Word(atomic.LoadUint64(WordAt(mem, SlotState)))
		if w.State() == Free {
			continue
		}
		le := binary.LittleEndian
		list = append(list, SlotInfo{Slot: number, Generation: w.Generation(), State: w.State(), Valid: w.State() < stateCount,
			SegmentID: le.Uint32(mem[SlotSegmentID:]), Bytes: t.length(mem), Rows: le.Uint32(mem[SlotRowCount:])})
	}
	return list
}

// Torn is a slot whose word does not say what the daemon's own record of it says.
type Torn struct {
	Slot, Generation uint32
	// Claimed is what the record says: the daemon, or a session, reads the batch.
	Claimed bool
}

// Compare lists the slots whose word contradicts the daemon's record. A step under way shows for some nanoseconds; what lasts is a client
// that writes where it may not, or a defect.
func (t *Table) Compare() []Torn {
	if !t.segment.pin() {
		return nil
	}
	defer t.segment.unpin()
	var torn []Torn
	for i := range t.count {
		mem, _ := t.slot(t.first + i)
		word := Word(atomic.LoadUint64(WordAt(mem, SlotState)))
		sh := shadow(t.shadows[i].Load())
		busy := sh&shadowBusy != 0
		if claimed := word.State() == Claimed || word.State() == Spilling; busy != claimed || busy && word.Generation() != uint32(sh>>32) {
			torn = append(torn, Torn{t.first + i, uint32(sh >> 32), busy})
		}
	}
	return torn
}
