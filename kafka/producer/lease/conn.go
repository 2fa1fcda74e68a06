package lease

import (
	"crypto/tls"
	"net"
	"time"

	"golang.org/x/sys/unix"
)

// conn is a connection whose writes need the pass.
type conn struct {
	net.Conn
	pass *Pass
}

// Write sends data, or fails when the pass is over. While it is not kept no two writes run at the same time, and each takes at most
// as long as the lease, so that End is never held up for longer.
func (c *conn) Write(data []byte) (int, error) {
	p := c.pass
	p.mu.Lock()
	if p.kept && p.over == nil {
		p.mu.Unlock()
		return c.Conn.Write(data)
	}
	defer p.mu.Unlock()
	// A deadline that cannot be set is that of a closed connection, of which the write tells.
	_ = c.Conn.SetWriteDeadline(time.Now().Add(p.lease.length))
	defer func() { _ = c.Conn.SetWriteDeadline(time.Time{}) }()
	if err := p.check(); err != nil {
		return 0, err
	}
	return c.Conn.Write(data)
}

// Close closes the connection.
func (c *conn) Close() error {
	c.pass.mu.Lock()
	delete(c.pass.conns, c)
	c.pass.mu.Unlock()
	return c.Conn.Close()
}

// drop closes the connection and throws away what the kernel has not sent yet.
func (c *conn) drop() {
	if t := c.tcp(); t != nil {
		_ = t.SetLinger(0)
		_ = t.Close()
		return
	}
	_ = c.Conn.Close()
}

// limit lets the kernel give up what the other side does not acknowledge within d.
func (c *conn) limit(d time.Duration) {
	t := c.tcp()
	if t == nil {
		return
	}
	raw, err := t.SyscallConn()
	if err != nil {
		return // closed already
	}
	_ = raw.Control(func(fd uintptr) {
		_ = unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT, int(d.Milliseconds()))
	})
}

func (c *conn) unlimited() { c.limit(0) }

// tcp is the connection below, nil when it is none of TCP.
func (c *conn) tcp() *net.TCPConn {
	below := c.Conn
	for {
		switch t := below.(type) {
		case *net.TCPConn:
			return t
		case *tls.Conn:
			below = t.NetConn()
		case interface{ NetConn() net.Conn }:
			below = t.NetConn()
		default:
			return nil
		}
	}
}
