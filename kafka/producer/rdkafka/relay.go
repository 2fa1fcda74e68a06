package rdkafka

/*
#include <stdint.h>
*/
import "C"

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"net/netip"
	"os"
	"runtime/cgo"
	"strconv"
	"sync"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"penstock.dev/penstock/kafka/producer"
	"penstock.dev/penstock/kafka/producer/lease"
)

// relay stands between a client and its transaction coordinator. librdkafka sends InitProducerId on a thread of its own, when the
// coordinator is found and again after some answers, and has no hook before that. So its connections to the coordinator, which carry no
// records, end in a pair of sockets here, and a pass is asked before anything goes on to the broker. TLS and SASL are
// librdkafka's; they go through unread.
type relay struct {
	pass    *lease.Pass
	own     *lease.Lease // of this client alone, when the configuration has none
	timeout time.Duration
	dialing context.Context // ends with the relay
	hangUp  context.CancelFunc
	handle  cgo.Handle
	carried sync.WaitGroup
}

func newRelay(cfg producer.Config) *relay {
	r := &relay{timeout: cfg.ConnectionSetupTimeout}
	of := cfg.Lease
	if of == nil {
		r.own = lease.New(lease.Length)
		of = r.own
	}
	r.pass = of.Pass()
	r.dialing, r.hangUp = context.WithCancel(context.Background())
	r.handle = cgo.NewHandle(r)
	return r
}

// cut lets nothing more out to the coordinator.
func (r *relay) cut() {
	if r == nil {
		return
	}
	r.pass.End()
	r.hangUp()
	if r.own != nil {
		r.own.End()
	}
}

// close is called when librdkafka's threads are gone.
func (r *relay) close() {
	if r == nil {
		return
	}
	r.cut()
	r.carried.Wait()
	r.handle.Delete()
}

// keep is called when the id is initialised.
func (r *relay) keep(id string) error {
	if err := r.over(context.Background(), id); err != nil {
		return err
	}
	if r.pass.Carried() == 0 {
		return producer.Errorf(producer.Internal, "transaction %s was initialised past its lease: this version of librdkafka names the "+
			"connection to the coordinator in another way", id)
	}
	return r.pass.Keep()
}

// over is the error when the lease, and not ctx, has ended the initialisation.
func (r *relay) over(ctx context.Context, id string) error {
	err := r.pass.Err()
	if err == nil || ctx.Err() != nil && errors.Is(err, lease.ErrEnded) {
		return nil
	}
	return producer.Errorf(producer.Fenced, "initialising transaction %s: %w", id, err)
}

// psDial puts a socket of ours in the place of librdkafka's and connects it, through the pass, to the address. It returns an errno.
//
//export psDial
func psDial(handle C.uintptr_t, fd C.int, addr unsafe.Pointer, length C.int) C.int {
	r, ok := cgo.Handle(handle).Value().(*relay)
	if !ok {
		return C.int(unix.EINVAL)
	}
	target, err := address(C.GoBytes(addr, length))
	if err == nil {
		err = r.connect(int(fd), target)
	}
	if err == nil {
		return 0
	}
	if errno, ok := errors.AsType[unix.Errno](err); ok {
		return C.int(errno)
	}
	return C.int(unix.EACCES)
}

// address reads a struct sockaddr.
func address(raw []byte) (netip.AddrPort, error) {
	if len(raw) < 2 {
		return netip.AddrPort{}, unix.EINVAL
	}
	family := binary.NativeEndian.Uint16(raw)
	switch {
	case family == unix.AF_INET && len(raw) >= 8:
		return netip.AddrPortFrom(netip.AddrFrom4([4]byte(raw[4:8])), binary.BigEndian.Uint16(raw[2:])), nil
	case family == unix.AF_INET6 && len(raw) >= 28:
		ip := netip.AddrFrom16([16]byte(raw[8:24]))
		if zone := binary.NativeEndian.Uint32(raw[24:]); zone != 0 {
			ip = ip.WithZone(strconv.FormatUint(uint64(zone), 10))
		}
		return netip.AddrPortFrom(ip, binary.BigEndian.Uint16(raw[2:])), nil
	default:
		return netip.AddrPort{}, unix.EAFNOSUPPORT
	}
}

func (r *relay) connect(fd int, target netip.AddrPort) error {
	if err := r.pass.Err(); err != nil {
		return err
	}
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		return err
	}
	err = unix.Dup3(pair[0], fd, unix.O_CLOEXEC)
	unix.Close(pair[0])
	if err != nil {
		unix.Close(pair[1])
		return err
	}
	file := os.NewFile(uintptr(pair[1]), "coordinator")
	near, err := net.FileConn(file)
	file.Close()
	if err != nil {
		return err
	}
	r.carried.Go(func() { r.carry(near, target) })
	return nil
}

// carry connects near with target until one of them ends.
func (r *relay) carry(near net.Conn, target netip.AddrPort) {
	defer near.Close()
	dialer := net.Dialer{Timeout: r.timeout}
	raw, err := dialer.DialContext(r.dialing, "tcp", target.String())
	if err != nil {
		return // librdkafka sees the end of its connection and says so
	}
	far, err := r.pass.Conn(raw)
	if err != nil {
		return
	}
	defer far.Close()
	r.carried.Go(func() {
		_, _ = io.Copy(near, raw)
		near.Close()
	})
	_, _ = io.Copy(far, near)
}
