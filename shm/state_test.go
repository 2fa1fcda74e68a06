package shm

import (
	"errors"
	"sync/atomic"
	"testing"
)

const (
	me    uint32 = 7
	other uint32 = 8
)

// legal is LAYOUT.md's table once more, written as the sentence of each (move, from, actor) that is allowed. Everything that
// is not here is illegal.
var legal = map[Move]map[State]map[uint32]Word{
	Reserve: {Free: {me: MakeWord(5, Reserved, me), other: MakeWord(5, Reserved, other)}},
	Park:    {Reserved: {me: MakeWord(5, Parked, me)}},
	Abandon: {Reserved: {me: MakeWord(6, Free, 0)}},
	Claim: {
		Parked: {me: MakeWord(5, Claimed, me), other: MakeWord(5, Claimed, other), Daemon: MakeWord(5, Claimed, 0)},
		OnDisk: {me: MakeWord(5, Claimed, me), other: MakeWord(5, Claimed, other), Daemon: MakeWord(5, Claimed, 0)},
	},
	Settle:      {Claimed: {me: MakeWord(6, Free, 0)}},
	Spill:       {Parked: {Daemon: MakeWord(5, Spilling, 0)}},
	Spilled:     {Spilling: {Daemon: MakeWord(5, OnDisk, 0)}},
	SpillFailed: {Spilling: {me: MakeWord(5, Parked, me), other: MakeWord(5, Parked, other)}},
	Revoke: {
		Reserved: {Daemon: MakeWord(6, Free, 0)}, Parked: {Daemon: MakeWord(6, Free, 0)},
		Claimed: {Daemon: MakeWord(6, Free, 0)}, Spilling: {Daemon: MakeWord(6, Free, 0)},
		OnDisk: {Daemon: MakeWord(6, Free, 0)},
	},
}

// ownerIn is who owns a slot that "me" brought into a state.
func ownerIn(s State) uint32 {
	switch s {
	case Reserved, Parked, Claimed:
		return me
	}
	return Daemon
}

func TestEveryMoveFromEveryState(t *testing.T) {
	for move := range moveCount + 1 {
		for state := range stateCount + 2 {
			for _, by := range []uint32{Daemon, me, other, MaxOwner + 1} {
				from := MakeWord(5, state, ownerIn(state))
				want, ok := legal[move][state][by]
				got, err := move.Next(from, by)
				var illegal *IllegalMoveError
				switch {
				case ok && (err != nil || got != want):
					t.Errorf("%v by %d from %v: got %v, %v, want %v", move, by, from, got, err, want)
				case !ok && (!errors.As(err, &illegal) || got != from):
					t.Errorf("%v by %d from %v: got %v, %v, want it refused", move, by, from, got, err)
				}
			}
		}
	}
}

// The daemon's own claim is settled by the daemon and by nobody else.
func TestDaemonSettlesItsClaim(t *testing.T) {
	w := MakeWord(5, Claimed, Daemon)
	if _, err := Settle.Next(w, me); err == nil {
		t.Error("a session settled the daemon's claim")
	}
	if got, err := Settle.Next(w, Daemon); err != nil || got != MakeWord(6, Free, 0) {
		t.Error(got, err)
	}
}

func TestGenerationWraps(t *testing.T) {
	got, err := Settle.Next(MakeWord(^uint32(0), Claimed, me), me)
	if err != nil || got != MakeWord(0, Free, 0) {
		t.Error(got, err)
	}
}

func TestWordKeepsItsFields(t *testing.T) {
	w := MakeWord(0xdeadbeef, OnDisk, MaxOwner)
	if w.Generation() != 0xdeadbeef || w.State() != OnDisk || w.Owner() != MaxOwner {
		t.Error(w)
	}
}

func TestSwapLosesToWhoeverWasFaster(t *testing.T) {
	word := uint64(MakeWord(5, Parked, me))
	from := Word(word)
	if _, err := Claim.Swap(&word, from, Daemon); err != nil {
		t.Fatal(err)
	}
	found, err := Claim.Swap(&word, from, Daemon)
	var illegal *IllegalMoveError
	if !errors.As(err, &illegal) || found != MakeWord(5, Claimed, 0) {
		t.Errorf("%v, %v", found, err)
	}
	if atomic.LoadUint64(&word) != uint64(MakeWord(5, Claimed, 0)) {
		t.Error("the loser changed the word")
	}
}
