package fault

import (
	"context"
	"errors"
	"fmt"

	"penstock.dev/penstock/kafka/encode"
	"penstock.dev/penstock/kafka/producer"
	pb "penstock.dev/penstock/proto/gen/penstock/v1"
)

// Error is an error that was classified where it arose.
type Error struct {
	Kind pb.ErrorKind
	// Message is written for a person: it names the option, the value and what to do.
	Message string
}

// Error is the message.
func (e *Error) Error() string { return e.Message }

// New makes a classified error.
func New(kind pb.ErrorKind, format string, args ...any) *Error {
	return &Error{Kind: kind, Message: fmt.Sprintf(format, args...)}
}

// producerKinds translates the kinds of kafka/producer, which does not import the contract.
var producerKinds = map[producer.Kind]pb.ErrorKind{
	producer.Internal:   pb.ErrorKind_INTERNAL,
	producer.Retry:      pb.ErrorKind_RETRY,
	producer.FailEpoch:  pb.ErrorKind_FAIL_EPOCH,
	producer.Fenced:     pb.ErrorKind_FENCED,
	producer.BadRequest: pb.ErrorKind_BAD_REQUEST,
}

// KindOf classifies an error; what nobody typed is a defect of Penstock.
func KindOf(err error) pb.ErrorKind {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Kind
	}
	if e, ok := errors.AsType[*producer.Error](err); ok {
		return producerKinds[e.Kind]
	}
	if _, ok := errors.AsType[*encode.RowError](err); ok {
		// Flink's own serializer would fail the task at this row, too.
		return pb.ErrorKind_FAIL_EPOCH
	}
	if _, ok := errors.AsType[*encode.NoSchemaID](err); ok {
		return pb.ErrorKind_BAD_REQUEST
	}
	if kind, ok := memoryKind(err); ok {
		return kind
	}
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) {
		// A step that was cut short leaves the epoch in a state that nobody can prove.
		return pb.ErrorKind_FAIL_EPOCH
	}
	return pb.ErrorKind_INTERNAL
}

// Classify gives the contract's form of an error; nil stays nil.
func Classify(err error) *pb.Error {
	if err == nil {
		return nil
	}
	return &pb.Error{Kind: KindOf(err), Message: err.Error()}
}
