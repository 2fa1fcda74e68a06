package lease

import (
	"errors"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// clock are both clocks, moved by a test. The zero value is ready for use.
type clock struct {
	mu sync.Mutex
	at reading
}

func (c *clock) now() reading {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

func (c *clock) add(d time.Duration) {
	c.sleep(d)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at.monotonic += d
}

// sleep is that of the machine, which the monotonic clock does not count.
func (c *clock) sleep(d time.Duration) { c.set(c.now().wall.Add(d)) }

func (c *clock) set(wall time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at.wall = wall
}

// connected is a TCP connection.
func connected(t *testing.T) (near, far net.Conn) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	if near, err = net.Dial("tcp", listener.Addr().String()); err != nil {
		t.Fatal(err)
	}
	if far, err = listener.Accept(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { far.Close() })
	return near, far
}

// pair is a TCP connection; received delivers all bytes that arrived by the time the first end was closed.
func pair(t *testing.T) (near net.Conn, received <-chan string) {
	t.Helper()
	near, far := connected(t)
	all := make(chan string, 1)
	go func() {
		data, _ := io.ReadAll(far)
		all <- string(data)
	}()
	return near, all
}

func guarded(t *testing.T, l *Pass) (net.Conn, <-chan string) {
	t.Helper()
	near, received := pair(t)
	c, err := l.Conn(near)
	if err != nil {
		t.Fatal(err)
	}
	return c, received
}

// requireDead sees that nothing more leaves and that the other side gets what was sent before.
func requireDead(t *testing.T, c net.Conn, received <-chan string, want string) {
	t.Helper()
	if n, err := c.Write([]byte("late")); n != 0 || err == nil {
		t.Errorf("a write after the end: %d, %v", n, err)
	}
	select {
	case got := <-received:
		if got != want {
			t.Errorf("the other side got %q, want %q", got, want)
		}
	case <-time.After(10 * time.Second):
		t.Error("the connection was not closed")
	}
}

func TestNothingLeavesAfterTheProcessStoodStill(t *testing.T) {
	c := &clock{}
	l := newLease(time.Second, c.now)
	p, quiet := l.Pass(), l.Pass()
	conn, received := guarded(t, p)
	c.add(900 * time.Millisecond)
	if _, err := conn.Write([]byte("in time")); err != nil {
		t.Fatal(err)
	}
	// What was sent must have arrived: the end throws away what is still under way.
	time.Sleep(50 * time.Millisecond)
	l.renew()
	c.add(900 * time.Millisecond)
	if err := p.Err(); err != nil {
		t.Errorf("a renewed lease: %v", err)
	}
	c.add(200 * time.Millisecond)
	l.renew() // the first thing that a resumed process does
	requireDead(t, conn, received, "in time")
	if err := p.Err(); err == nil || !strings.Contains(err.Error(), "stood still for 1.1s") {
		t.Errorf("why: %v", err)
	}
	if p.Keep() == nil || l.Pass().Err() == nil {
		t.Error("sent after its end")
	}
	l.Restart()
	if p.Err() == nil || quiet.Err() == nil || l.Pass().Err() != nil {
		t.Errorf("restarted: the old passes %v, %v, a new one %v", p.Err(), quiet.Err(), l.Pass().Err())
	}
}

// TestSleepOfTheMachine: only the wall clock knows of it, and only the monotonic clock of a standstill while somebody sets the other.
func TestSleepOfTheMachine(t *testing.T) {
	c := &clock{}
	l := newLease(time.Second, c.now)
	c.sleep(time.Minute)
	if l.Err() == nil {
		t.Error("valid after the sleep of the machine")
	}
	l = newLease(time.Second, c.now)
	c.sleep(-time.Hour)
	if err := l.Err(); err != nil {
		t.Errorf("a wall clock that was set back: %v", err)
	}
	c.add(2 * time.Second)
	if l.Err() == nil {
		t.Error("valid after a standstill, because the wall clock was set back")
	}
}

// TestElapsed: a difference of two times from time.Now is that of the monotonic clock alone, unless its part is taken off.
func TestElapsed(t *testing.T) {
	now := time.Now()
	if r := readingOf(now); r.wall != now.Round(0) || r.monotonic != now.Sub(origin) || r.monotonic <= 0 {
		t.Errorf("%v is read as %+v", now, r)
	}
	if got := Elapsed(now, now.Add(time.Second)); got != time.Second {
		t.Errorf("a second is %v", got)
	}
}

func TestEnd(t *testing.T) {
	l := New(Length)
	p, other := l.Pass(), l.Pass()
	conn, received := guarded(t, p)
	p.End()
	requireDead(t, conn, received, "")
	if !errors.Is(p.Err(), ErrEnded) || other.Err() != nil {
		t.Errorf("why: %v; another pass: %v", p.Err(), other.Err())
	}
	near, received := pair(t)
	if _, err := p.Conn(near); !errors.Is(err, ErrEnded) {
		t.Errorf("a connection after the end: %v", err)
	}
	requireDead(t, near, received, "")
	l.End()
	l.Restart()
	if !errors.Is(other.Err(), ErrEnded) || !errors.Is(l.Pass().Err(), ErrEnded) {
		t.Errorf("after the end of the lease: %v", other.Err())
	}
}

// TestTheKernelGivesUpToo: what it has taken must not be sent again and again, unless the id is initialised.
func TestTheKernelGivesUpToo(t *testing.T) {
	l := New(Length)
	defer l.End()
	p := l.Pass()
	c, _ := guarded(t, p)
	if got := userTimeout(t, c); got != Length {
		t.Errorf("the kernel tries for %v", got)
	}
	if err := p.Keep(); err != nil {
		t.Fatal(err)
	}
	if got := userTimeout(t, c); got != 0 {
		t.Errorf("after Keep the kernel tries for %v", got)
	}
}

func userTimeout(t *testing.T, c net.Conn) time.Duration {
	t.Helper()
	raw, err := c.(*conn).tcp().SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	millis := -1
	if err := raw.Control(func(fd uintptr) {
		millis, err = unix.GetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT)
	}); err != nil {
		t.Fatal(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return time.Duration(millis) * time.Millisecond
}

// TestEndThrowsAwayWhatIsUnderWay: the other side reads late, and does not get what was still in the kernel.
func TestEndThrowsAwayWhatIsUnderWay(t *testing.T) {
	l := New(300 * time.Millisecond)
	defer l.End()
	p := l.Pass()
	near, far := connected(t)
	c, err := p.Conn(near)
	if err != nil {
		t.Fatal(err)
	}
	sent := 0
	for {
		n, err := c.Write(make([]byte, 1<<20))
		sent += n
		if err != nil {
			break // the connection is full, and the deadline of the write has passed
		}
	}
	p.End()
	got, err := io.Copy(io.Discard, far)
	if !errors.Is(err, unix.ECONNRESET) || got >= int64(sent) {
		t.Errorf("the other side got %d of %d bytes, %v", got, sent, err)
	}
}

// TestEndIsNotHeldUp: a write into a full connection ends in bounded time.
func TestEndIsNotHeldUp(t *testing.T) {
	l := New(500 * time.Millisecond)
	defer l.End()
	p := l.Pass()
	near, far := net.Pipe() // nobody reads
	defer far.Close()
	c, err := p.Conn(near)
	if err != nil {
		t.Fatal(err)
	}
	writing := make(chan error, 1)
	go func() {
		_, err := c.Write([]byte("x"))
		writing <- err
	}()
	time.Sleep(50 * time.Millisecond)
	start := time.Now()
	p.End()
	if took := time.Since(start); took > 5*time.Second {
		t.Errorf("End took %v", took)
	}
	if err := <-writing; err == nil {
		t.Error("the write has succeeded")
	}
}

func TestKept(t *testing.T) {
	c := &clock{}
	l := newLease(time.Second, c.now)
	p := l.Pass()
	conn, received := guarded(t, p)
	if err := p.Keep(); err != nil {
		t.Fatal(err)
	}
	c.add(time.Hour)
	if _, err := conn.Write([]byte("later")); err != nil {
		t.Errorf("a kept pass: %v", err)
	}
	conn.Close()
	if got := <-received; got != "later" {
		t.Errorf("got %q", got)
	}
	p.End()
	if p.Carried() != 1 {
		t.Errorf("%d connections", p.Carried())
	}
}

// TestRenewsItself runs on the real clock.
func TestRenewsItself(t *testing.T) {
	l := New(400 * time.Millisecond)
	defer l.End()
	time.Sleep(time.Second)
	if err := l.Err(); err != nil {
		t.Error(err)
	}
}
