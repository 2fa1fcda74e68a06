package fault

import (
	"errors"

	"penstock.dev/penstock/columnar"
	"penstock.dev/penstock/kafka/encode"
	"penstock.dev/penstock/memctl"
	pb "penstock.dev/penstock/proto/gen/penstock/v1"
	"penstock.dev/penstock/shm"
	"penstock.dev/penstock/shm/spill"
)

// memoryKind classifies what the shared memory and its ledger report.
func memoryKind(err error) (pb.ErrorKind, bool) {
	if _, ok := errors.AsType[*shm.StaleError](err); ok {
		return pb.ErrorKind_STALE_HANDLE, true
	}
	if _, ok := errors.AsType[*shm.ForeignError](err); ok {
		return pb.ErrorKind_FOREIGN_HANDLE, true
	}
	if _, ok := errors.AsType[*shm.DeniedError](err); ok {
		return pb.ErrorKind_DENIED, true
	}
	if _, ok := errors.AsType[*memctl.DeniedError](err); ok {
		return pb.ErrorKind_DENIED, true
	}
	if isLostOnDisk(err) {
		return pb.ErrorKind_FAIL_EPOCH, true
	}
	if errors.Is(err, shm.ErrClosed) || errors.Is(err, memctl.ErrEnded) {
		// The session ended while its batch was on the way.
		return pb.ErrorKind_FAIL_EPOCH, true
	}
	if IsBadBatch(err) {
		return pb.ErrorKind_BAD_REQUEST, true
	}
	return 0, false
}

// isLostOnDisk tells whether a batch cannot be read back: Flink has to replay its epoch.
func isLostOnDisk(err error) bool {
	_, corrupt := errors.AsType[*spill.CorruptError](err)
	_, unread := errors.AsType[*spill.ReadError](err)
	return corrupt || unread || errors.Is(err, spill.ErrClosed)
}

// IsBadBatch tells whether an error means that a client wrote a slot or a batch that cannot be true.
func IsBadBatch(err error) bool {
	if _, ok := errors.AsType[*shm.DescriptorError](err); ok {
		return true
	}
	if _, ok := errors.AsType[*encode.BadBatch](err); ok {
		return true
	}
	return errors.Is(err, columnar.ErrMalformed)
}
