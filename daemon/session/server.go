package session

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"runtime/debug"
	"sync"
	"time"

	"penstock.dev/penstock/daemon/fault"
	"penstock.dev/penstock/daemon/telemetry"
	"penstock.dev/penstock/memctl"
	pb "penstock.dev/penstock/proto/gen/penstock/v1"
	"penstock.dev/penstock/shm"
)

// Options are the collaborators and limits of a Server.
type Options struct {
	Arena  *shm.Arena
	Ledger *memctl.Ledger
	// SlotsPerSession is how many batches one session may have parked.
	SlotsPerSession uint32
	MaxSessions     int
	// HelloTimeout bounds the wait for Hello, ReplyTimeout everything else that a client could delay by not reading or by
	// sending half a frame.
	HelloTimeout, ReplyTimeout time.Duration
	// MemoryWait bounds the wait of a lease that does not fit into the account.
	MemoryWait time.Duration
	// Leased is called after each lease, so that the warm pool can be filled up again. It must not block.
	Leased func()
	// Version is the daemon's, for Welcome.
	Version  string
	Counters *telemetry.Counters
	Log      *slog.Logger
}

// Server accepts sessions and knows all that are alive. Safe for concurrent use.
type Server struct {
	options Options

	mu       sync.Mutex
	sessions map[uint32]*Session
	lastID   uint32
	draining bool
	// admitted counts sessions between admit and publish.
	admitted int
	// empty is closed while no session is alive.
	empty chan struct{}
	// connections counts every connection's goroutine.
	connections sync.WaitGroup
	// early are connections that are neither a session nor a line yet.
	early map[*net.UnixConn]struct{}
}

// NewServer makes a server without sessions.
func NewServer(o Options) *Server {
	s := &Server{options: o, sessions: map[uint32]*Session{}, early: map[*net.UnixConn]struct{}{}, empty: make(chan struct{})}
	close(s.empty)
	return s
}

// Serve accepts connections until the listener is closed or ctx ends.
func (s *Server) Serve(ctx context.Context, listener net.Listener) error {
	stop := context.AfterFunc(ctx, func() { listener.Close() })
	defer stop()
	for {
		conn, err := listener.Accept()
		if errors.Is(err, net.ErrClosed) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("session socket: %w", err)
		}
		s.connections.Go(func() { s.guard(conn.(*net.UnixConn)) })
	}
}

// guard keeps a defect that one client brings to light from ending the sessions of all.
func (s *Server) guard(conn *net.UnixConn) {
	defer func() {
		if p := recover(); p != nil {
			s.options.Log.Error("panic in a session", telemetry.FieldError, fmt.Sprint(p), telemetry.FieldStack, string(debug.Stack()))
		}
	}()
	s.handle(conn)
}

// Refuse answers a connection that never becomes a session. It does not block for longer than ReplyTimeout, and for a fresh
// connection, whose buffer is empty, not at all.
func (s *Server) Refuse(conn *net.UnixConn, err error) {
	s.options.Counters.SessionsRefused.Add(1)
	refusal := fault.Classify(err)
	s.options.Log.Warn("session refused", telemetry.FieldKind, refusal.GetKind().String(), telemetry.FieldError, refusal.GetMessage())
	_ = writeWithin(conn, s.options.ReplyTimeout, &pb.SessionReply{Reply: &pb.SessionReply_Refused{Refused: refusal}})
}

// Authenticate finds the session that a gRPC call acts for. The token decides; the time it takes does not depend on it.
func (s *Server) Authenticate(id uint32, token []byte) (*Session, error) {
	s.mu.Lock()
	found := s.sessions[id]
	s.mu.Unlock()
	if found == nil {
		return nil, errEnded(id)
	}
	if !found.authentic(token) {
		return nil, fault.New(pb.ErrorKind_FOREIGN_HANDLE, "the token is not that of session %d; repeat the token of Welcome", id)
	}
	return found, nil
}

// Drain refuses new sessions from now on; existing ones go on.
func (s *Server) Drain() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.draining = true
}

// Draining tells whether Drain was called.
func (s *Server) Draining() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.draining
}

// Connections is how many connections are open, those that have said nothing yet included; lines are not counted.
func (s *Server) Connections() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.sessions) + len(s.early)
}

// Empty is closed while no session is alive. After Drain it stays closed once it is.
func (s *Server) Empty() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.empty
}

// Count is how many sessions are alive.
func (s *Server) Count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.sessions)
}

// Status lists the sessions in no order.
func (s *Server) Status() []*pb.SessionStatus {
	var list []*pb.SessionStatus
	for _, x := range s.All() {
		list = append(list, x.Status())
	}
	return list
}

// Close ends every session and connection and waits until their goroutines have ended or ctx ends. The listener must be closed
// before.
func (s *Server) Close(ctx context.Context) error {
	s.Drain()
	for _, x := range s.All() {
		x.Revoke()
	}
	s.mu.Lock()
	for conn := range s.early {
		conn.Close()
	}
	s.mu.Unlock()
	done := make(chan struct{})
	go func() {
		s.connections.Wait()
		close(done)
	}()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("%d sessions did not end in time", s.Count())
	}
}

// All are the sessions that are alive, in no order.
func (s *Server) All() []*Session {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := make([]*Session, 0, len(s.sessions))
	for _, x := range s.sessions {
		list = append(list, x)
	}
	return list
}

// admit gives a new session its number and token, unless the daemon takes none. The session is not yet visible: publish
// follows when it is complete, or dismiss.
func (s *Server) admit(x *Session) error {
	if _, err := rand.Read(x.token[:]); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.draining:
		return errDraining
	case len(s.sessions)+s.admitted >= s.options.MaxSessions:
		return fault.New(pb.ErrorKind_FALL_BACK, "penstockd serves %d sessions already: session.max_sessions = %d; raise it",
			len(s.sessions)+s.admitted, s.options.MaxSessions)
	case s.lastID == shm.MaxOwner:
		return fault.New(pb.ErrorKind_FALL_BACK, "penstockd has used up its session numbers; restart it")
	}
	s.lastID++
	s.admitted++
	x.id = s.lastID
	return nil
}

var errDraining = fault.New(pb.ErrorKind_FALL_BACK, "penstockd is shutting down and takes no new sessions")

// publish makes an admitted session visible to gRPC calls and to the status.
func (s *Server) publish(x *Session) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.admitted--
	if s.draining {
		return errDraining
	}
	if len(s.sessions) == 0 {
		s.empty = make(chan struct{})
	}
	s.sessions[x.id] = x
	delete(s.early, x.conn)
	return nil
}

// dismiss gives up an admitted session that could not be completed.
func (s *Server) dismiss() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.admitted--
}

// forget removes a session that has been revoked.
func (s *Server) forget(x *Session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.sessions[x.id] != x {
		return
	}
	delete(s.sessions, x.id)
	if len(s.sessions) == 0 {
		close(s.empty)
	}
}
