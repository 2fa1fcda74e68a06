package session

import (
	"bufio"
	"fmt"
	"net"
	"time"

	"penstock.dev/penstock/daemon/fault"
	"penstock.dev/penstock/daemon/telemetry"
	pb "penstock.dev/penstock/proto/gen/penstock/v1"
)

// Line is a connection that carries the requests of one writer and their answers beside its stream (session.proto, AttachLine). Next is
// called by one goroutine, Answer by one, Close by any.
type Line struct {
	conn *net.UnixConn
	in   *bufio.Reader
	// timeout bounds a frame that has begun, in either direction.
	timeout time.Duration
}

// Next waits for a request as long as it takes.
func (l *Line) Next() (*pb.WriteRequest, error) {
	request := &pb.WriteRequest{}
	return request, nextFrame(l.conn, l.in, l.timeout, request)
}

// Answer sends the answer to a request of the line.
func (l *Line) Answer(event *pb.WriteEvent) error {
	return writeWithin(l.conn, l.timeout, event)
}

// Close ends the connection; Next and Answer return an error then.
func (l *Line) Close() { l.conn.Close() }

// Offer lets the client attach a line to a writer, once: serve is then called with it, on a goroutine of the server, and has the line until
// it returns. withdraw ends the offer.
func (s *Session) Offer(writer uint64, serve func(*Line)) (withdraw func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lines[writer] = serve
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.lines, writer)
	}
}

// takeOffer is what Offer was given for this writer.
func (s *Session) takeOffer(writer uint64) (func(*Line), error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	serve := s.lines[writer]
	if serve == nil {
		return nil, fault.New(pb.ErrorKind_BAD_REQUEST, "AttachLine: writer %d of session %d does not exist, or has its line already",
			writer, s.id)
	}
	delete(s.lines, writer)
	return serve, nil
}

// attach makes a connection that has sent AttachLine a line for as long as it and its writer live.
func (s *Server) attach(conn *net.UnixConn, a *pb.AttachLine) {
	serve, err := s.findOffer(a)
	if err != nil {
		s.refuseLine(conn, err)
		return
	}
	line := &Line{conn: conn, in: bufio.NewReader(conn), timeout: s.options.ReplyTimeout}
	attached := &pb.SessionReply{Reply: &pb.SessionReply_Attached{Attached: &pb.LineAttached{}}}
	if err := writeWithin(conn, line.timeout, attached); err != nil {
		return // The client is gone; its writer goes on without a line.
	}
	s.settled(conn)
	serve(line)
}

func (s *Server) findOffer(a *pb.AttachLine) (func(*Line), error) {
	x, err := s.Authenticate(a.GetSessionId(), a.GetToken())
	if err != nil {
		return nil, err
	}
	return x.takeOffer(a.GetWriterId())
}

func (s *Server) refuseLine(conn *net.UnixConn, err error) {
	refusal := fault.Classify(fmt.Errorf("a line was refused: %w", err))
	s.options.Counters.CountFault(refusal.GetKind(), false)
	s.options.Log.Warn("line refused", telemetry.FieldKind, refusal.GetKind().String(), telemetry.FieldError, refusal.GetMessage())
	_ = writeWithin(conn, s.options.ReplyTimeout, &pb.SessionReply{Reply: &pb.SessionReply_Refused{Refused: refusal}})
}
