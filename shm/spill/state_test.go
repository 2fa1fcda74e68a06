package spill

import (
	"errors"
	"strings"
	"testing"
)

// legal is the picture of the package comment once more, as text.
const legal = `
PARKED spill SPILLING
SPILLING written ON_DISK
SPILLING failed PARKED
SPILLING drop DOOMED
DOOMED written GONE
DOOMED failed GONE
ON_DISK claim CLAIMED
ON_DISK drop GONE
CLAIMED release GONE`

// Every state with every move, unknown ones included, against the picture.
func TestEveryMoveOfEveryState(t *testing.T) {
	for s := range stateCount + 2 {
		for m := range moveCount + 2 {
			to, err := s.Next(m)
			line := "\n" + s.String() + " " + m.String() + " "
			_, rest, allowed := strings.Cut(legal, line)
			if !allowed {
				if illegal, ok := errors.AsType[*IllegalMoveError](err); !ok || to != s || illegal.State != s || illegal.Move != m {
					t.Errorf("%v, %v: went to %v with %v, want a refusal that changes nothing", s, m, to, err)
				}
				continue
			}
			want, _, _ := strings.Cut(rest, "\n")
			if err != nil || to.String() != want {
				t.Errorf("%v, %v: went to %v with %v, want %s", s, m, to, err, want)
			}
		}
	}
}

// Every history of up to eight moves: a batch is claimed at most once, never while it is being written nor after it has gone; it ends its write once
// for each time that it began one; and GONE is the end.
func TestEveryHistory(t *testing.T) {
	histories := 0
	var walk func(s State, moves []Move)
	walk = func(s State, moves []Move) {
		histories++
		count := func(m Move) (n int) {
			for _, x := range moves {
				if x == m {
					n++
				}
			}
			return n
		}
		writing := count(Spill) - count(Written) - count(Failed)
		if (s == Spilling || s == Doomed) != (writing == 1) || writing < 0 || writing > 1 {
			t.Fatalf("%v leave %v with %d writes under way", moves, s, writing)
		}
		if count(Claim) > 1 || count(Claim) < count(Release) || count(Drop) > 1 || count(Drop)+count(Claim) > 1 {
			t.Fatalf("%v: claimed or dropped more than once", moves)
		}
		onDisk := count(Written) == 1 && count(Drop) == 0 && count(Claim) == 0
		if onDisk != (s == OnDisk) {
			t.Fatalf("%v leave %v", moves, s)
		}
		if len(moves) == 8 {
			return
		}
		for m := range moveCount {
			if to, err := s.Next(m); err == nil {
				if s == Gone {
					t.Fatalf("%v lead on from GONE", moves)
				}
				walk(to, append(moves[:len(moves):len(moves)], m))
			}
		}
	}
	walk(Parked, nil)
	if histories < 20 {
		t.Errorf("only %d histories", histories)
	}
}
