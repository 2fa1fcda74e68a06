package shm

import (
	"fmt"
	"sync/atomic"
)

// State is the state of a slot.
type State uint8

// The states of LAYOUT.md. A number above OnDisk is what a client scribbled.
const (
	Free State = iota
	Reserved
	Parked
	Claimed
	Spilling
	OnDisk
	stateCount
)

var stateNames = [stateCount]string{"FREE", "RESERVED", "PARKED", "CLAIMED", "SPILLING", "ON_DISK"}

// String is the state's name in LAYOUT.md.
func (s State) String() string {
	if s < stateCount {
		return stateNames[s]
	}
	return fmt.Sprintf("STATE(%d)", uint8(s))
}

// Daemon is the owner id of the daemon itself, and of a slot that nobody owns.
const Daemon uint32 = 0

// Word is the state word of a slot: generation (32 bits, high), state (8), owner (24, low).
type Word uint64

// MakeWord composes a word; bits of owner above MaxOwner are dropped.
func MakeWord(generation uint32, state State, owner uint32) Word {
	return Word(generation)<<32 | Word(state)<<ownerBits | Word(owner&MaxOwner)
}

// Generation counts how often the slot went back to FREE; it wraps.
func (w Word) Generation() uint32 { return uint32(w >> 32) }

// State is the state's field; it may be a number that has no state.
func (w Word) State() State { return State(w >> ownerBits) }

// Owner is a session id, or Daemon.
func (w Word) Owner() uint32 { return uint32(w) & MaxOwner }

// String is the word as people read it in logs.
func (w Word) String() string {
	return fmt.Sprintf("%v of owner %d, generation %d", w.State(), w.Owner(), w.Generation())
}

// Move is one legal change of a state word.
type Move uint8

// The moves of LAYOUT.md.
const (
	Reserve Move = iota
	Park
	Abandon
	Claim
	Settle
	Spill
	Spilled
	SpillFailed
	Revoke
	moveCount
)

// Who may make a move.
type mover uint8

const (
	anySession mover = iota // a session; it becomes the owner
	anybody                 // the daemon or a session
	ownerOnly               // whoever the word names
	daemonOnly              // the daemon
	daemonFor               // the daemon, in the name of the session that gets the slot
)

// Who owns the slot afterwards.
type heir uint8

const (
	nobody heir = iota // the daemon's id, which FREE has too
	actor
)

type rule struct {
	name   string
	from   uint8 // bit set of states
	to     State
	mover  mover
	heir   heir
	raises bool // the generation
}

func in(states ...State) uint8 {
	var set uint8
	for _, s := range states {
		set |= 1 << s
	}
	return set
}

// moves is the one table of legal moves.
var moves = [moveCount]rule{
	Reserve:     {"reserve", in(Free), Reserved, anySession, actor, false},
	Park:        {"park", in(Reserved), Parked, ownerOnly, actor, false},
	Abandon:     {"abandon", in(Reserved), Free, ownerOnly, nobody, true},
	Claim:       {"claim", in(Parked, OnDisk), Claimed, anybody, actor, false},
	Settle:      {"settle", in(Claimed), Free, ownerOnly, nobody, true},
	Spill:       {"spill", in(Parked), Spilling, daemonOnly, nobody, false},
	Spilled:     {"spilled", in(Spilling), OnDisk, daemonOnly, nobody, false},
	SpillFailed: {"spill failed", in(Spilling), Parked, daemonFor, actor, false},
	Revoke:      {"revoke", in(Reserved, Parked, Claimed, Spilling, OnDisk), Free, daemonOnly, nobody, true},
}

// String is the move's name in LAYOUT.md.
func (m Move) String() string {
	if m < moveCount {
		return moves[m].name
	}
	return fmt.Sprintf("MOVE(%d)", uint8(m))
}

// IllegalMoveError says that a move is not allowed from a word, or not by this owner. Nothing was changed.
type IllegalMoveError struct {
	Move Move
	From Word
	By   uint32
}

// Error names the move, who tried it and what the slot said.
func (e *IllegalMoveError) Error() string {
	return fmt.Sprintf("owner %d may not %v a slot that is %v", e.By, e.Move, e.From)
}

// Next is the word after move m of w in the name of by; for SpillFailed, by is the session whose batch it is. It changes
// nothing and knows no memory. The error is an *IllegalMoveError.
func (m Move) Next(w Word, by uint32) (Word, error) {
	illegal := &IllegalMoveError{m, w, by}
	if m >= moveCount || w.State() >= stateCount || by > MaxOwner {
		return w, illegal
	}
	r := &moves[m]
	if r.from&(1<<w.State()) == 0 {
		return w, illegal
	}
	switch r.mover {
	case anySession, daemonFor:
		if by == Daemon {
			return w, illegal
		}
	case ownerOnly:
		if by != w.Owner() {
			return w, illegal
		}
	case daemonOnly:
		if by != Daemon {
			return w, illegal
		}
	}
	generation, owner := w.Generation(), Daemon
	if r.raises {
		generation++
	}
	if r.heir == actor {
		owner = by
	}
	return MakeWord(generation, r.to, owner), nil
}

// Swap makes move m on the word at addr, if it still is from. It returns the new word, or an *IllegalMoveError that holds
// the word found when somebody was faster.
func (m Move) Swap(addr *uint64, from Word, by uint32) (Word, error) {
	to, err := m.Next(from, by)
	if err != nil {
		return from, err
	}
	if !atomic.CompareAndSwapUint64(addr, uint64(from), uint64(to)) {
		found := Word(atomic.LoadUint64(addr))
		return found, &IllegalMoveError{m, found, by}
	}
	return to, nil
}
