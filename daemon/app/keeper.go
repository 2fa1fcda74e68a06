package app

import (
	"fmt"
	"log/slog"
	"os"
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"penstock.dev/penstock/daemon/telemetry"
	"penstock.dev/penstock/shm"
)

// keeper is the service manager's file descriptor store (FDSTORE=1 of sd_notify(3)) as the arena sees it. Whether the store has room,
// or is there at all, the manager does not say; what it drops ends with this process, as without it.
type keeper struct {
	log *slog.Logger
}

// newKeeper is nil when no service manager listens.
func newKeeper(log *slog.Logger, segments int64) shm.Keeper {
	if notifySocket() == "" {
		return nil
	}
	// systemd says from version 254 on how many descriptors it keeps.
	if room, err := strconv.ParseInt(os.Getenv("FDSTORE"), 10, 64); err == nil && room < segments {
		log.Warn("the service manager keeps fewer descriptors than the arena can have segments; the others are lost to the books when the "+
			"daemon starts again. Raise FileDescriptorStoreMax= of the unit file", telemetry.FieldKept, room, telemetry.FieldSegments, segments)
	}
	return &keeper{log}
}

// Keep implements shm.Keeper. FDPOLL=0: the manager need not watch memory for an end.
func (k *keeper) Keep(name string, fd int) {
	if err := notify("FDSTORE=1\nFDPOLL=0\nFDNAME="+name, fd); err != nil {
		k.log.Warn("the service manager does not keep a segment", telemetry.FieldSegment, name, telemetry.FieldError, err)
	}
}

// Forget implements shm.Keeper.
func (k *keeper) Forget(name string) {
	err := notify("FDSTOREREMOVE=1\nFDNAME=" + name)
	if err == nil {
		err = notifyBarrier()
	}
	if err != nil {
		k.log.Warn("the service manager may still keep a segment that is not used any more", telemetry.FieldSegment, name,
			telemetry.FieldError, err)
	}
}

// notifyBarrier waits until the service manager has read all that it was told before, as sd_notify_barrier(3): it closes the
// descriptor that comes with the message.
func notifyBarrier() error {
	var pipe [2]int
	if err := unix.Pipe2(pipe[:], unix.O_CLOEXEC); err != nil {
		return fmt.Errorf("a pipe for the service manager: %w", err)
	}
	defer unix.Close(pipe[0])
	err := notify("BARRIER=1", pipe[1])
	unix.Close(pipe[1])
	if err != nil {
		return err
	}
	return awaitHangUp(pipe[0], notifyTimeout)
}

func awaitHangUp(fd int, timeout time.Duration) error {
	for end := time.Now().Add(timeout); ; {
		polled := []unix.PollFd{{Fd: int32(fd)}}
		n, err := unix.Poll(polled, int(max(0, time.Until(end).Milliseconds())))
		switch {
		case err != nil && err != unix.EINTR:
			return fmt.Errorf("poll: %w", err)
		case n > 0:
			return nil
		case time.Now().After(end):
			return fmt.Errorf("it has not answered within %v", timeout)
		}
	}
}
