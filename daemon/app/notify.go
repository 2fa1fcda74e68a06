package app

import (
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// States of sd_notify(3) that the daemon reports.
const (
	notifyReady    = "READY=1"
	notifyStopping = "STOPPING=1"
)

// notifyTimeout bounds the wait for a service manager that does not read.
const notifyTimeout = time.Second

// notifySocket is where the service manager wants to be told; empty when there is none that asked for it.
func notifySocket() string {
	name := os.Getenv("NOTIFY_SOCKET")
	if rest, abstract := strings.CutPrefix(name, "@"); abstract {
		return "\x00" + rest
	}
	return name
}

// notify tells the service manager about a change of state when it asked for that (NOTIFY_SOCKET), with descriptors where the state
// is about some. A name that starts with @ is in the abstract namespace.
func notify(state string, descriptors ...int) error {
	name := notifySocket()
	if name == "" {
		return nil
	}
	conn, err := net.DialUnix("unixgram", nil, &net.UnixAddr{Name: name, Net: "unixgram"})
	if err != nil {
		return fmt.Errorf("NOTIFY_SOCKET: %w", err)
	}
	defer conn.Close()
	if err := conn.SetWriteDeadline(time.Now().Add(notifyTimeout)); err != nil {
		return err
	}
	return send(conn, []byte(state), descriptors)
}

// send is WriteMsgUnix, which refuses connected datagram sockets.
func send(conn *net.UnixConn, text []byte, descriptors []int) error {
	var rights []byte
	if len(descriptors) > 0 {
		rights = unix.UnixRights(descriptors...)
	}
	raw, err := conn.SyscallConn()
	if err != nil {
		return err
	}
	var sent error
	err = raw.Write(func(fd uintptr) bool {
		for sent = unix.EINTR; sent == unix.EINTR; {
			sent = unix.Sendmsg(int(fd), text, rights, nil, unix.MSG_NOSIGNAL)
		}
		return sent != unix.EAGAIN
	})
	return errors.Join(err, sent)
}
