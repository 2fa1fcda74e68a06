package daemontest

import (
	"errors"
	"net"
	"os"
	"testing"
	"time"

	"penstock.dev/penstock/daemon/session"
	pb "penstock.dev/penstock/proto/gen/penstock/v1"
)

// Line is a writer's line.
type Line struct {
	t    testing.TB
	Conn *net.UnixConn
}

// Attach asks for the line of a writer of c's session, or returns the refusal. path is that of the session socket.
func Attach(t testing.TB, path string, c *Client, writer uint64) (*Line, *pb.Error) {
	t.Helper()
	return AttachWith(t, path, &pb.AttachLine{SessionId: c.Welcome.GetSessionId(), Token: c.Welcome.GetToken(), WriterId: writer})
}

// AttachWith is Attach with any request.
func AttachWith(t testing.TB, path string, attach *pb.AttachLine) (*Line, *pb.Error) {
	t.Helper()
	c := Dial(t, path)
	reply, _ := c.Ask(&pb.SessionRequest{Request: &pb.SessionRequest_Attach{Attach: attach}})
	if refused := reply.GetRefused(); refused != nil {
		return nil, refused
	}
	if reply.GetAttached() == nil {
		t.Fatalf("got %v, want LineAttached", reply)
	}
	return &Line{t: t, Conn: c.Conn}, nil
}

// Send sends requests that come after so many of the stream.
func (l *Line) Send(after uint64, requests ...*pb.WriteRequest) {
	l.t.Helper()
	for _, request := range requests {
		request.After = after
		if err := session.WriteFrame(l.Conn, request); err != nil {
			l.t.Fatal(err)
		}
	}
}

// Next is the next answer.
func (l *Line) Next() *pb.WriteEvent {
	l.t.Helper()
	event, err := l.receive(time.Now().Add(Deadline))
	if err != nil {
		l.t.Fatal(err)
	}
	return event
}

// Quiet waits for a moment in which nothing must come.
func (l *Line) Quiet(moment time.Duration) {
	l.t.Helper()
	if event, err := l.receive(time.Now().Add(moment)); !errors.Is(err, os.ErrDeadlineExceeded) {
		l.t.Fatalf("got %v, %v where nothing should come", event, err)
	}
}

// End waits for the end of the line and returns how it ended: io.EOF.
func (l *Line) End() error {
	_, err := l.receive(time.Now().Add(Deadline))
	return err
}

// receive takes an answer; a zero time is no limit.
func (l *Line) receive(until time.Time) (*pb.WriteEvent, error) {
	if err := l.Conn.SetReadDeadline(until); err != nil {
		return nil, err
	}
	event := &pb.WriteEvent{}
	return event, session.ReadFrame(l.Conn, event)
}
