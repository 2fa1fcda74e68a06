package session

import (
	"context"
	"crypto/subtle"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"penstock.dev/penstock/daemon/fault"
	"penstock.dev/penstock/daemon/listen"
	"penstock.dev/penstock/kafka/encode"
	"penstock.dev/penstock/memctl"
	pb "penstock.dev/penstock/proto/gen/penstock/v1"
	"penstock.dev/penstock/shm"
)

// tokenBytes is the length of a session's secret.
const tokenBytes = 16

// Session is one client connection and what it holds. It is a pipeline.Source. Safe for concurrent use.
type Session struct {
	id      uint32
	token   [tokenBytes]byte
	hello   *pb.Hello
	peer    listen.Peer
	dialect encode.Dialect
	opened  time.Time
	server  *Server
	conn    *net.UnixConn
	log     *slog.Logger
	table   *shm.Table
	view    *shm.View
	// share has the leases of the session in the account of its process.
	share *memctl.Share
	// life ends with the session.
	life    context.Context
	steps   atomic.Uint64
	endLife context.CancelFunc

	mu sync.Mutex
	// ended is set by the first revoke; nothing is added afterwards.
	ended bool
	// leases are the granted data segments and their size.
	leases map[uint32]int64
	// writers are the functions that end the session's writers, by a number of their own.
	writers    map[uint64]func()
	nextWriter uint64
	// lines are the offers of writers that have no line yet, by the writer's id.
	lines map[uint64]func(*Line)
}

// ID is the session's number, 1 to 2^24-1: the owner in the state words of its slots.
func (s *Session) ID() uint32 { return s.id }

// Dialect is what the client's process decides about bytes: its line of Flink, and how its JVM spells floats, proven by the probe
// of its Hello.
func (s *Session) Dialect() encode.Dialect { return s.dialect }

// Account is that of the client's process; all its sessions share it.
func (s *Session) Account() *memctl.Account { return s.share.Account() }

// OrphanBytes is what the client's process still maps of segments that are in no book any more, those of its earlier sessions included.
func (s *Session) OrphanBytes() int64 {
	return s.server.options.Arena.OrphanBytes(string(s.hello.GetProcessId()))
}

// Claim implements pipeline.Source.
func (s *Session) Claim(slot, generation uint32) (*shm.Extent, error) {
	return s.view.Claim(slot, generation)
}

// Settle implements pipeline.Source.
func (s *Session) Settle(extent *shm.Extent) error {
	// Released first, so that a client which sees the slot free can give the segment back.
	extent.Release()
	return s.table.Settle(extent.Slot, extent.Generation, shm.Daemon)
}

// Size implements pipeline.Source.
func (s *Session) Size(slot, generation uint32) (int, error) {
	extent, err := s.view.Read(slot, generation)
	if err != nil {
		return 0, err
	}
	defer extent.Release()
	return len(extent.Body), nil
}

// Spill implements pipeline.Source.
func (s *Session) Spill(slot, generation uint32) (*shm.Extent, error) {
	return s.view.Spill(slot, generation)
}

// Spilled implements pipeline.Source.
func (s *Session) Spilled(extent *shm.Extent) error {
	extent.Release()
	return s.table.Spilled(extent.Slot, extent.Generation)
}

// SpillFailed implements pipeline.Source.
func (s *Session) SpillFailed(extent *shm.Extent) error {
	extent.Release()
	return s.table.SpillFailed(extent.Slot, extent.Generation)
}

// Join ties a writer to the session: end is called, once, when the session ends first. The writer calls leave when it is over.
func (s *Session) Join(end func()) (leave func(), err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended {
		return nil, errEnded(s.id)
	}
	s.nextWriter++
	number := s.nextWriter
	s.writers[number] = end
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.writers, number)
	}, nil
}

func errEnded(id uint32) error {
	return fault.New(pb.ErrorKind_FOREIGN_HANDLE, "session %d does not exist in this daemon: it has ended, or the daemon was "+
		"restarted; open a new session", id)
}

// authentic compares in constant time.
func (s *Session) authentic(token []byte) bool {
	return subtle.ConstantTimeCompare(s.token[:], token) == 1
}

// lease grants one data segment: first the account, then the memory.
func (s *Session) lease(purpose string) (*shm.Segment, error) {
	s.steps.Add(1)
	defer s.steps.Add(1)
	bytes := s.server.options.Arena.SegmentBytes()
	ctx, cancel := context.WithTimeout(s.life, s.server.options.MemoryWait)
	defer cancel()
	if err := s.share.ReserveWithin(ctx, memctl.Lease, uint64(bytes)); err != nil {
		return nil, fmt.Errorf("a segment for %q: %w", purpose, err)
	}
	segment, err := s.server.options.Arena.Lease(s.id, purpose)
	if err != nil {
		return nil, errors.Join(err, s.share.Return(memctl.Lease, uint64(bytes)))
	}
	s.server.options.Leased()
	s.mu.Lock()
	defer s.mu.Unlock()
	// A session that was revoked meanwhile has its account and its leases taken away by the connection's own last revoke.
	s.leases[segment.ID()] = segment.Bytes()
	return segment, nil
}

// giveBack takes a segment back that the client has unmapped.
func (s *Session) giveBack(segmentID uint32) error {
	s.steps.Add(1)
	defer s.steps.Add(1)
	if err := s.server.options.Arena.Return(s.id, segmentID); err != nil {
		return err
	}
	s.mu.Lock()
	bytes := s.leases[segmentID]
	delete(s.leases, segmentID)
	s.mu.Unlock()
	return s.share.Return(memctl.Lease, uint64(bytes))
}

// Revoke ends everything that the session holds. It is idempotent, and safe while the session's writers are at work: they get
// shm.ErrClosed or a stale handle, and their contexts end.
func (s *Session) Revoke() {
	s.mu.Lock()
	s.ended = true
	ends := s.writers
	s.writers = map[uint64]func(){}
	s.leases = map[uint32]int64{}
	s.mu.Unlock()
	s.endLife()
	for _, end := range ends {
		end()
	}
	s.strip()
	s.conn.Close()
}

// Share has the session's leases in the account of its process.
func (s *Session) Share() *memctl.Share { return s.share }

// Counts are the session's slots by state; see shm.Table.Counts.
func (s *Session) Counts() shm.SlotCounts { return s.table.Counts() }

// Torn are the session's slots whose words contradict the daemon's record.
func (s *Session) Torn() []shm.Torn { return s.table.Compare() }

// Steps is even while no lease is being granted or taken back, and changes with every one.
func (s *Session) Steps() uint64 { return s.steps.Load() }

// Slots are the session's slots that are in use.
func (s *Session) Slots() []shm.SlotInfo { return s.table.Slots() }

// Status is the session's line in the status answer.
func (s *Session) Status() *pb.SessionStatus {
	counts := s.table.Counts()
	s.mu.Lock()
	defer s.mu.Unlock()
	var leased int64
	for _, bytes := range s.leases {
		leased += bytes
	}
	return &pb.SessionStatus{
		SessionId:         s.id,
		ClientName:        s.hello.GetClientName(),
		Pid:               s.hello.GetPid(),
		Uid:               s.peer.UID,
		FlinkVersion:      s.hello.GetFlinkVersion(),
		JvmFeatureVersion: s.hello.GetJvmFeatureVersion(),
		LeasedSegments:    uint32(len(s.leases)),
		LeasedBytes:       uint64(leased),
		BudgetBytes:       s.hello.GetBudgetBytes(),
		SlotsReserved:     uint32(counts.States[shm.Reserved]),
		SlotsParked:       uint32(counts.States[shm.Parked]),
		SlotsClaimed:      uint32(counts.States[shm.Claimed]),
		AgeMillis:         uint64(time.Since(s.opened).Milliseconds()),
	}
}
