package spill

import "fmt"

// State is the state of one batch.
type State uint8

// The states of the package comment.
const (
	Parked State = iota
	Spilling
	Doomed
	OnDisk
	Claimed
	Gone
	stateCount
)

var stateNames = [stateCount]string{"PARKED", "SPILLING", "DOOMED", "ON_DISK", "CLAIMED", "GONE"}

// String is the state's name in the package comment.
func (s State) String() string {
	if s < stateCount {
		return stateNames[s]
	}
	return fmt.Sprintf("STATE(%d)", uint8(s))
}

// Move is what happens to a batch.
type Move uint8

// The moves of the package comment.
const (
	Spill Move = iota
	Written
	Failed
	Claim
	Drop
	Release
	moveCount
)

var moveNames = [moveCount]string{"spill", "written", "failed", "claim", "drop", "release"}

// String is the move's name in the package comment.
func (m Move) String() string {
	if m < moveCount {
		return moveNames[m]
	}
	return fmt.Sprintf("MOVE(%d)", uint8(m))
}

// moves is the one table of legal moves.
var moves = map[State]map[Move]State{
	Parked:   {Spill: Spilling},
	Spilling: {Written: OnDisk, Failed: Parked, Drop: Doomed},
	Doomed:   {Written: Gone, Failed: Gone},
	OnDisk:   {Claim: Claimed, Drop: Gone},
	Claimed:  {Release: Gone},
}

// Next is the state after move m. It changes nothing. The error is an *IllegalMoveError, and the state stays.
func (s State) Next(m Move) (State, error) {
	if to, ok := moves[s][m]; ok {
		return to, nil
	}
	return s, &IllegalMoveError{s, m}
}

// IllegalMoveError says that a batch in this state cannot be moved so. Nothing was changed.
type IllegalMoveError struct {
	State State
	Move  Move
}

// Error names both.
func (e *IllegalMoveError) Error() string {
	return fmt.Sprintf("a spilled batch that is %v does not take the move %q", e.State, e.Move)
}
