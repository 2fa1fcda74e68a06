package producer

import (
	"errors"
	"fmt"
)

// Kind names the next action of whoever receives an Error. The values mean what the ErrorKind of the same name in
// proto/penstock/v1/error.proto means; this package does not import the contract, the daemon translates.
type Kind int

// The kinds that an engine and the epoch machine use.
const (
	// Internal is a defect of Penstock; the epoch is lost as with FailEpoch.
	Internal Kind = iota
	// Retry: the same call may succeed later, nothing changed.
	Retry
	// FailEpoch: the open epoch is lost, the task must fail so that Flink replays its rows.
	FailEpoch
	// Fenced: another owner holds the transactional id, this attempt is over.
	Fenced
	// BadRequest: the request or the configuration is wrong and stays wrong however often it is tried.
	BadRequest
)

// String is the name of the kind as the contract spells it.
func (k Kind) String() string {
	switch k {
	case Retry:
		return "RETRY"
	case FailEpoch:
		return "FAIL_EPOCH"
	case Fenced:
		return "FENCED"
	case BadRequest:
		return "BAD_REQUEST"
	default:
		return "INTERNAL"
	}
}

// Error is the one shape in which producers and epochs report a fault.
type Error struct {
	Kind Kind
	// Code is the Kafka protocol error code, or a negative code that only the engine's client library knows; 0 when the
	// fault has none.
	Code int
	// Text is written for a person: it names the option, the value and what to do.
	Text string
	// Cause is the error below this one, or nil.
	Cause error
}

// Errorf makes an Error without a code. A %w in the format becomes the Cause.
func Errorf(k Kind, format string, args ...any) *Error {
	err := fmt.Errorf(format, args...)
	return &Error{Kind: k, Text: err.Error(), Cause: errors.Unwrap(err)}
}

// Error is the text for a person.
func (e *Error) Error() string { return e.Text }

// Unwrap is the cause, so that errors.Is finds context.DeadlineExceeded and the like.
func (e *Error) Unwrap() error { return e.Cause }

// KindOf classifies any error: the kind of the first Error in its chain, Internal for everything else.
func KindOf(err error) Kind {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Kind
	}
	return Internal
}
