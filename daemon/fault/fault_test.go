package fault

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"penstock.dev/penstock/columnar"
	"penstock.dev/penstock/kafka/encode"
	"penstock.dev/penstock/kafka/producer"
	"penstock.dev/penstock/memctl"
	pb "penstock.dev/penstock/proto/gen/penstock/v1"
	"penstock.dev/penstock/shm"
	"penstock.dev/penstock/shm/spill"
)

func TestEveryErrorHasItsKind(t *testing.T) {
	for _, test := range []struct {
		err  error
		kind pb.ErrorKind
		bad  bool
	}{
		{New(pb.ErrorKind_FALL_BACK, "no"), pb.ErrorKind_FALL_BACK, false},
		{&shm.StaleError{}, pb.ErrorKind_STALE_HANDLE, false},
		{&shm.ForeignError{}, pb.ErrorKind_FOREIGN_HANDLE, false},
		{&shm.DescriptorError{}, pb.ErrorKind_BAD_REQUEST, true},
		{&shm.DeniedError{}, pb.ErrorKind_DENIED, false},
		{&memctl.DeniedError{}, pb.ErrorKind_DENIED, false},
		{&spill.CorruptError{}, pb.ErrorKind_FAIL_EPOCH, false},
		{&spill.ReadError{}, pb.ErrorKind_FAIL_EPOCH, false},
		{spill.ErrClosed, pb.ErrorKind_FAIL_EPOCH, false},
		{shm.ErrClosed, pb.ErrorKind_FAIL_EPOCH, false},
		{memctl.ErrEnded, pb.ErrorKind_FAIL_EPOCH, false},
		{columnar.ErrMalformed, pb.ErrorKind_BAD_REQUEST, true},
		{&encode.BadBatch{}, pb.ErrorKind_BAD_REQUEST, true},
		{&encode.RowError{}, pb.ErrorKind_FAIL_EPOCH, false},
		{&encode.NoSchemaID{}, pb.ErrorKind_BAD_REQUEST, false},
		{producer.Errorf(producer.Retry, "x"), pb.ErrorKind_RETRY, false},
		{producer.Errorf(producer.FailEpoch, "x"), pb.ErrorKind_FAIL_EPOCH, false},
		{producer.Errorf(producer.Fenced, "x"), pb.ErrorKind_FENCED, false},
		{producer.Errorf(producer.BadRequest, "x"), pb.ErrorKind_BAD_REQUEST, false},
		{producer.Errorf(producer.Internal, "x"), pb.ErrorKind_INTERNAL, false},
		// The producer's own kind counts more than the deadline below it.
		{producer.Errorf(producer.Retry, "x: %w", context.DeadlineExceeded), pb.ErrorKind_RETRY, false},
		{context.DeadlineExceeded, pb.ErrorKind_FAIL_EPOCH, false},
		{errors.New("surprise"), pb.ErrorKind_INTERNAL, false},
	} {
		wrapped := fmt.Errorf("while testing: %w", test.err)
		if got := Classify(wrapped); got.GetKind() != test.kind || got.GetMessage() != wrapped.Error() {
			t.Errorf("%T %v is %v, want %v", test.err, test.err, got, test.kind)
		}
		if got := IsBadBatch(wrapped); got != test.bad {
			t.Errorf("%T %v: bad batch %v, want %v", test.err, test.err, got, test.bad)
		}
	}
	if Classify(nil) != nil {
		t.Error("no error is an error")
	}
}
