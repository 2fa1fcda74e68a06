package server

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"google.golang.org/grpc"

	"penstock.dev/penstock/daemon/fault"
	"penstock.dev/penstock/daemon/pipeline"
	"penstock.dev/penstock/daemon/session"
	"penstock.dev/penstock/daemon/telemetry"
	"penstock.dev/penstock/kafka/epoch"
	"penstock.dev/penstock/kafka/producer"
	pb "penstock.dev/penstock/proto/gen/penstock/v1"
)

// SinkOptions are the collaborators and limits of Sink.
type SinkOptions struct {
	Sessions *session.Server
	Engine   producer.Engine
	// Disk is where batches go when a broker takes none; nil: they stay in memory.
	Disk   *pipeline.Disk
	Limits pipeline.Limits
	// OpenTimeout bounds the wait for a new stream's OpenWriter.
	OpenTimeout time.Duration
	// ProgressInterval is the smallest time between two WriterProgress events of one writer.
	ProgressInterval time.Duration
	MaxWriters       int
	Counters         *telemetry.Counters
	Log              *slog.Logger
}

// Sink implements SinkService. It is safe for concurrent use.
type Sink struct {
	pb.UnimplementedSinkServiceServer
	options SinkOptions
	owners  epoch.Owners

	mu      sync.Mutex
	nextID  uint64
	writers map[uint64]*pipeline.Writer
	// opening counts the writers that are not in writers yet.
	opening int
	// streams counts the running Write calls.
	streams sync.WaitGroup
}

// NewSink makes a service without writers.
func NewSink(o SinkOptions) *Sink {
	return &Sink{options: o, writers: map[uint64]*pipeline.Writer{}}
}

// Status lists the writers in no order.
func (s *Sink) Status() []*pb.WriterStatus {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := make([]*pb.WriterStatus, 0, len(s.writers))
	for _, w := range s.writers {
		list = append(list, w.Status())
	}
	return list
}

// Producers lists the producers of all writers, by writer.
func (s *Sink) Producers() []*pb.ProducerStatus {
	s.mu.Lock()
	defer s.mu.Unlock()
	var list []*pb.ProducerStatus
	for _, id := range slices.Sorted(maps.Keys(s.writers)) {
		list = append(list, s.writers[id].Producers()...)
	}
	return list
}

// wait returns when no writer is left, or with an error when ctx ends.
func (s *Sink) wait(ctx context.Context) error {
	done := make(chan struct{})
	go func() {
		s.streams.Wait()
		close(done)
	}()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("%d sink writers did not end in time", len(s.Status()))
	}
}

// Write runs one writer for as long as its stream lives.
func (s *Sink) Write(stream grpc.BidiStreamingServer[pb.WriteRequest, pb.WriteEvent]) error {
	s.streams.Add(1)
	defer s.streams.Done()
	ctx, cancel := context.WithCancel(stream.Context())
	defer cancel()
	in := newIntake(ctx)
	go in.receive(stream)
	open, err := s.awaitOpen(ctx, in.requests)
	if err != nil {
		return s.refuse(stream, err)
	}
	client, err := s.options.Sessions.Authenticate(open.GetSessionId(), open.GetToken())
	if err != nil {
		return s.refuse(stream, err)
	}
	leave, err := client.Join(cancel)
	if err != nil {
		return s.refuse(stream, err)
	}
	defer leave()
	writer, err := s.add(ctx, open, client)
	if err != nil {
		return s.refuse(stream, err)
	}
	loop := &writerLoop{ctx: ctx, stream: stream, intake: in, backlog: writer.Backlog(ctx, in.requests), writer: writer,
		counters: s.options.Counters, log: s.options.Log}
	defer s.remove(loop)
	defer client.Offer(writer.ID(), loop.serveLine)()
	return loop.run(s.options.ProgressInterval)
}

// refuse answers a stream whose writer never came to be; the stream then ends. One that names a session of another daemon life counts
// as a foreign handle.
func (s *Sink) refuse(stream grpc.BidiStreamingServer[pb.WriteRequest, pb.WriteEvent], err error) error {
	refusal := fault.Classify(err)
	s.options.Counters.CountFault(refusal.GetKind(), false)
	return stream.Send(&pb.WriteEvent{Event: &pb.WriteEvent_Failed{Failed: &pb.WriterFailed{Error: refusal}}})
}

func (s *Sink) awaitOpen(ctx context.Context, requests <-chan *pipeline.Queued) (*pb.OpenWriter, error) {
	timer := time.NewTimer(s.options.OpenTimeout)
	defer timer.Stop()
	select {
	case first, ok := <-requests:
		if ok {
			if open := first.Request().GetOpen(); open != nil {
				return open, nil
			}
		}
		return nil, fault.New(pb.ErrorKind_BAD_REQUEST, "the first request of a writer's stream must be OpenWriter")
	case <-timer.C:
		return nil, fault.New(pb.ErrorKind_BAD_REQUEST, "no OpenWriter came within writer.open_timeout = %v", s.options.OpenTimeout)
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// add opens a writer, which may wait for memory, and makes it visible.
func (s *Sink) add(ctx context.Context, open *pb.OpenWriter, client *session.Session) (*pipeline.Writer, error) {
	id, err := s.admit()
	if err != nil {
		return nil, err
	}
	writer, err := pipeline.Open(ctx, id, open, pipeline.Options{
		Source:      client,
		Account:     client.Account(),
		OrphanBytes: client.OrphanBytes,
		Engine:      s.options.Engine,
		Disk:        s.options.Disk,
		Owners:      &s.owners,
		Dialect:     client.Dialect(),
		Limits:      s.options.Limits,
		Counters:    s.options.Counters,
		Log:         s.options.Log,
	})
	s.mu.Lock()
	defer s.mu.Unlock()
	s.opening--
	if err != nil {
		return nil, err
	}
	s.writers[id] = writer
	return writer, nil
}

// admit gives a new writer its number, unless there are enough.
func (s *Sink) admit() (uint64, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n := len(s.writers) + s.opening; n >= s.options.MaxWriters {
		return 0, fault.New(pb.ErrorKind_FALL_BACK, "penstockd serves %d sink writers already: writer.max_writers = %d; raise it",
			n, s.options.MaxWriters)
	}
	s.opening++
	s.nextID++
	return s.nextID, nil
}

// remove closes the writer, which may take as long as an abort, and then forgets it.
func (s *Sink) remove(l *writerLoop) {
	l.writer.Close(l.backlog.Stop())
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.writers, l.writer.ID())
}
