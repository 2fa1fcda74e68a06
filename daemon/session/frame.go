package session

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"time"

	"golang.org/x/sys/unix"
	"google.golang.org/protobuf/proto"
)

// MaxFrame is the largest frame of the session socket in bytes, without its length. Hello is the largest request and has a
// few kilobytes.
const MaxFrame = 1 << 20

// frameHeader is the length in front of each frame, little-endian.
const frameHeader = 4

// ReadFrame reads one frame into m. It returns io.EOF only when the stream ends between two frames.
func ReadFrame(r io.Reader, m proto.Message) error {
	n, err := readLength(r)
	if err != nil {
		return err
	}
	return readBody(r, n, m)
}

// nextFrame waits for a frame as long as it takes; behind its length the rest must come within timeout. in reads from conn.
func nextFrame(conn *net.UnixConn, in io.Reader, timeout time.Duration, m proto.Message) error {
	if err := conn.SetReadDeadline(time.Time{}); err != nil {
		return err
	}
	n, err := readLength(in)
	if err != nil {
		return err
	}
	if err := conn.SetReadDeadline(time.Now().Add(timeout)); err != nil {
		return err
	}
	return readBody(in, n, m)
}

func readLength(r io.Reader) (int, error) {
	var header [frameHeader]byte
	if _, err := io.ReadFull(r, header[:]); err != nil {
		return 0, err
	}
	n := binary.LittleEndian.Uint32(header[:])
	if n > MaxFrame {
		return 0, fmt.Errorf("a frame of %d bytes is larger than the limit of %d; the peer does not speak this protocol", n, MaxFrame)
	}
	return int(n), nil
}

func readBody(r io.Reader, n int, m proto.Message) error {
	body := make([]byte, n)
	if _, err := io.ReadFull(r, body); err != nil {
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return err
	}
	if err := proto.Unmarshal(body, m); err != nil {
		return fmt.Errorf("a frame of %d bytes is not a valid %s: %w", n, m.ProtoReflect().Descriptor().Name(), err)
	}
	return nil
}

// WriteFrame writes m as one frame, in one write.
func WriteFrame(w io.Writer, m proto.Message) error {
	frame, err := proto.MarshalOptions{}.MarshalAppend(make([]byte, frameHeader), m)
	if err != nil {
		return err
	}
	n := len(frame) - frameHeader
	if n > MaxFrame {
		return fmt.Errorf("a frame of %d bytes is larger than the limit of %d", n, MaxFrame)
	}
	binary.LittleEndian.PutUint32(frame, uint32(n))
	_, err = w.Write(frame)
	return err
}

// writeWithin writes m as one frame to a peer that may not read.
func writeWithin(conn *net.UnixConn, timeout time.Duration, m proto.Message) error {
	if err := conn.SetWriteDeadline(time.Now().Add(timeout)); err != nil {
		return err
	}
	return WriteFrame(conn, m)
}

// sendDescriptor sends one dummy byte with one file descriptor. Netty's receiver takes exactly one descriptor for each
// message, which is why it travels in a message of its own behind its frame.
func sendDescriptor(conn *net.UnixConn, fd int) error {
	_, _, err := conn.WriteMsgUnix([]byte{0}, unix.UnixRights(fd), nil)
	return err
}
