package session

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"time"

	"google.golang.org/protobuf/proto"

	"penstock.dev/penstock/daemon/fault"
	"penstock.dev/penstock/daemon/listen"
	"penstock.dev/penstock/daemon/telemetry"
	pb "penstock.dev/penstock/proto/gen/penstock/v1"
	"penstock.dev/penstock/shm"
)

// handle is the goroutine of one connection, from accept to the end of its session, or line.
func (s *Server) handle(conn *net.UnixConn) {
	defer conn.Close()
	s.mu.Lock()
	s.early[conn] = struct{}{}
	s.mu.Unlock()
	defer s.settled(conn)
	first, err := s.awaitFirst(conn)
	if err != nil {
		s.Refuse(conn, err)
		return
	}
	if attach := first.GetAttach(); attach != nil {
		s.attach(conn, attach)
		return
	}
	s.host(conn, first.GetHello())
}

// settled: the connection is not early any more. It may be called again.
func (s *Server) settled(conn *net.UnixConn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.early, conn)
}

// host is the life of a session.
func (s *Server) host(conn *net.UnixConn, hello *pb.Hello) {
	x, err := s.greet(conn, hello)
	if err != nil {
		s.Refuse(conn, err)
		return
	}
	defer s.forget(x)
	defer x.Revoke()
	defer x.watch()()
	s.options.Counters.SessionsOpened.Add(1)
	x.log.Info("session opened", telemetry.FieldClient, x.hello.GetClientName(), telemetry.FieldPeer, x.peer.String(),
		telemetry.FieldFlink, x.hello.GetFlinkVersion(), telemetry.FieldJVM, x.hello.GetJvmFeatureVersion(),
		telemetry.FieldBudget, x.hello.GetBudgetBytes())
	err = x.serve()
	x.log.Info("session ended", telemetry.FieldReason, endInWords(err), telemetry.FieldAge, time.Since(x.opened))
}

func endInWords(err error) string {
	if errors.Is(err, io.EOF) || errors.Is(err, net.ErrClosed) {
		return "connection closed"
	}
	return err.Error()
}

// greet checks Hello and builds the session; nothing is left behind when it fails.
func (s *Server) greet(conn *net.UnixConn, hello *pb.Hello) (*Session, error) {
	dialect, err := checkHello(hello, shm.LayoutHash())
	if err != nil {
		return nil, err
	}
	peer, err := listen.PeerOf(conn)
	if err != nil {
		return nil, err
	}
	x := &Session{
		hello: hello, peer: peer, dialect: dialect, opened: time.Now(), server: s, conn: conn,
		leases: map[uint32]int64{}, writers: map[uint64]func(){}, lines: map[uint64]func(*Line){},
	}
	x.life, x.endLife = context.WithCancel(context.Background())
	return x, s.open(x)
}

// awaitFirst reads what the connection is to be: Hello or AttachLine.
func (s *Server) awaitFirst(conn *net.UnixConn) (*pb.SessionRequest, error) {
	if err := conn.SetReadDeadline(time.Now().Add(s.options.HelloTimeout)); err != nil {
		return nil, err
	}
	var request pb.SessionRequest
	if err := ReadFrame(conn, &request); err != nil {
		return nil, fault.New(pb.ErrorKind_BAD_REQUEST, "no Hello came within session.hello_timeout = %v: %v", s.options.HelloTimeout, err)
	}
	if request.GetHello() == nil && request.GetAttach() == nil {
		return nil, fault.New(pb.ErrorKind_BAD_REQUEST, "the first request of a session must be Hello")
	}
	return &request, conn.SetReadDeadline(time.Time{})
}

// open makes the session's slot table, publishes the session and only then welcomes the client, whose next step may be a gRPC
// call that names the session.
func (s *Server) open(x *Session) error {
	if err := s.admit(x); err != nil {
		return err
	}
	x.log = s.options.Log.With(telemetry.FieldSession, x.id)
	if err := x.equip(); err != nil {
		s.dismiss()
		x.strip()
		return err
	}
	if err := s.publish(x); err != nil {
		x.strip()
		return err
	}
	if err := x.welcome(); err != nil {
		x.Revoke()
		s.forget(x)
		return err
	}
	return nil
}

// equip opens the account and makes the slot table.
func (x *Session) equip() (err error) {
	o := &x.server.options
	x.share, err = o.Ledger.Join(x.hello.GetProcessId(), x.id, x.hello.GetBudgetBytes(), uint64(o.Arena.SegmentBytes()),
		x.hello.GetClientName())
	if err != nil {
		return fault.New(pb.ErrorKind_BAD_REQUEST, "Hello: %v", err)
	}
	o.Arena.Own(x.id, string(x.hello.GetProcessId()))
	if x.table, err = o.Arena.NewTable(x.id, o.SlotsPerSession); err != nil {
		return err
	}
	x.view = shm.NewView(o.Arena, x.table)
	return nil
}

// strip gives back what equip and leases took; it is idempotent.
func (x *Session) strip() {
	x.endLife()
	x.server.options.Arena.Revoke(x.id)
	if x.share != nil {
		x.share.Leave()
	}
}

func (x *Session) welcome() error {
	segment := x.table.Segment()
	return x.grant(&pb.SessionReply{Reply: &pb.SessionReply_Welcome{Welcome: &pb.Welcome{
		Protocol:          ProtocolMax,
		ArenaId:           x.server.options.Arena.ID(),
		SessionId:         x.id,
		Token:             x.token[:],
		TableSegmentId:    segment.ID(),
		TableSegmentBytes: uint64(segment.Bytes()),
		FirstSlot:         x.table.First(),
		SlotCount:         x.table.Count(),
		MaxBatchBytes:     uint64(x.server.options.Arena.MaxBatchBytes()),
		DaemonVersion:     x.server.options.Version,
	}}}, segment)
}

// serve answers requests until the connection ends, and returns why it did.
func (x *Session) serve() error {
	for {
		request, err := x.next()
		if err != nil {
			return err
		}
		switch r := request.GetRequest().(type) {
		case *pb.SessionRequest_Lease:
			err = x.answerLease(r.Lease)
		case *pb.SessionRequest_ReturnLease:
			err = x.answerReturn(r.ReturnLease)
		default:
			err = fmt.Errorf("request %T is not allowed after Hello", r)
			_ = x.refuse(fault.New(pb.ErrorKind_BAD_REQUEST, "%v", err))
		}
		if err != nil {
			return err
		}
	}
}

// next waits for a request as long as it takes.
func (x *Session) next() (*pb.SessionRequest, error) {
	request := &pb.SessionRequest{}
	return request, nextFrame(x.conn, x.conn, x.server.options.ReplyTimeout, request)
}

func (x *Session) answerLease(r *pb.LeaseRequest) error {
	segment, err := x.lease(r.GetPurpose())
	if err != nil {
		x.server.options.Counters.LeasesDenied.Add(1)
		x.log.Warn("lease denied", telemetry.FieldPurpose, r.GetPurpose(), telemetry.FieldError, err)
		return x.refuse(err)
	}
	x.log.Debug("segment leased", telemetry.FieldSegment, segment.ID(), telemetry.FieldPurpose, r.GetPurpose())
	return x.grant(&pb.SessionReply{Reply: &pb.SessionReply_Lease{Lease: &pb.LeaseGrant{
		SegmentId:    segment.ID(),
		SegmentBytes: uint64(segment.Bytes()),
	}}}, segment)
}

func (x *Session) answerReturn(r *pb.LeaseReturn) error {
	if err := x.giveBack(r.GetSegmentId()); err != nil {
		return x.refuse(err)
	}
	x.log.Debug("segment returned", telemetry.FieldSegment, r.GetSegmentId())
	return x.reply(&pb.SessionReply{Reply: &pb.SessionReply_Returned{Returned: &pb.LeaseReturned{SegmentId: r.GetSegmentId()}}})
}

// refuse answers one request with an error; the session goes on.
func (x *Session) refuse(err error) error {
	return x.reply(&pb.SessionReply{Reply: &pb.SessionReply_Refused{Refused: fault.Classify(err)}})
}

func (x *Session) reply(m proto.Message) error {
	return writeWithin(x.conn, x.server.options.ReplyTimeout, m)
}

// grant sends a reply and the descriptor of a segment behind it.
func (x *Session) grant(reply *pb.SessionReply, segment *shm.Segment) error {
	reply.CarriesFd = true
	if err := x.reply(reply); err != nil {
		return err
	}
	return segment.WithFD(func(fd int) error { return sendDescriptor(x.conn, fd) })
}
