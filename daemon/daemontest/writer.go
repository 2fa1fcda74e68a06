package daemontest

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/protobuf/proto"

	pb "penstock.dev/penstock/proto/gen/penstock/v1"
)

// API connects to the api socket for as long as the test runs.
func API(t testing.TB, path string) *grpc.ClientConn {
	t.Helper()
	conn, err := grpc.NewClient("unix://"+path, grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithAuthority("localhost"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return conn
}

// Writer is one sink writer's stream.
type Writer struct {
	t      testing.TB
	stream grpc.BidiStreamingClient[pb.WriteRequest, pb.WriteEvent]
	cancel context.CancelFunc
	events chan *pb.WriteEvent
	// progress is the newest, whoever took its event.
	progress atomic.Pointer[pb.WriterProgress]
	// Ended has the error that ended the stream.
	Ended chan error
	// line takes seals and flushes; nil: the stream does. sent is how many requests went over the stream.
	line *Line
	sent uint64
}

// OpenRequest is an OpenWriter for Rows that the daemon accepts.
func OpenRequest(c *Client, guarantee pb.DeliveryGuarantee) *pb.OpenWriter {
	return &pb.OpenWriter{
		SessionId: c.Welcome.GetSessionId(),
		Token:     c.Welcome.GetToken(),
		Owner:     &pb.Owner{JobId: "job", Vertex: "sink", TaskName: "Sink: test", Subtask: 1, Attempt: 2},
		Schema: &pb.Schema{Row: &pb.LogicalType{Root: pb.TypeRoot_ROW, FieldNames: []string{"id", "name"}, Children: []*pb.LogicalType{
			{Root: pb.TypeRoot_BIGINT}, {Root: pb.TypeRoot_VARCHAR, Nullable: true},
		}}},
		ValueFormat: &pb.Format{Format: &pb.Format_Json{Json: &pb.JsonFormat{}}},
		Topic:       "topic",
		Guarantee:   guarantee,
		Kafka: &pb.KafkaConfig{BootstrapServers: []string{"broker:9092"}, Acks: -1, Idempotence: true, Compression: "none",
			DeliveryTimeoutMs: 120_000, RequestTimeoutMs: 30_000, MaxBlockMs: 60_000, TransactionTimeoutMs: 3_600_000,
			MaxInFlight: 5, BufferBytes: 32 << 20, MaxRequestBytes: 1 << 20, WarmPool: true},
	}
}

// NewWriter starts a stream and sends open.
func NewWriter(t testing.TB, api *grpc.ClientConn, open *pb.OpenWriter) *Writer {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	stream, err := pb.NewSinkServiceClient(api).Write(ctx)
	if err != nil {
		cancel()
		t.Fatal(err)
	}
	w := &Writer{t: t, stream: stream, cancel: cancel, events: make(chan *pb.WriteEvent, 1024), Ended: make(chan error, 1)}
	t.Cleanup(cancel)
	go w.receive()
	w.Send(&pb.WriteRequest{Request: &pb.WriteRequest_Open{Open: open}})
	return w
}

func (w *Writer) receive() {
	for {
		event, err := w.stream.Recv()
		if err != nil {
			w.Ended <- err
			return
		}
		if p := event.GetProgress(); p != nil {
			w.progress.Store(p)
		}
		w.events <- event
	}
}

// Progress is the newest report, nil before the first; also one whose event was passed over while another was waited for.
func (w *Writer) Progress() *pb.WriterProgress { return w.progress.Load() }

// Send sends one request.
func (w *Writer) Send(request *pb.WriteRequest) {
	w.t.Helper()
	if err := w.stream.Send(request); err != nil {
		w.t.Fatal(err)
	}
	w.sent++
}

// Attach gives the writer a line, which takes its seals and flushes from now on. path is that of the session socket.
func (w *Writer) Attach(path string, c *Client, id uint64) {
	w.t.Helper()
	line, refused := Attach(w.t, path, c, id)
	if refused != nil {
		w.t.Fatalf("the line was refused: %v", refused)
	}
	w.line = line
	go func() {
		for {
			// Without a limit: the line ends with the writer, or with the test.
			event, err := line.receive(time.Time{})
			if err != nil {
				return
			}
			w.events <- event
		}
	}()
}

// HasLine tells whether Attach was called.
func (w *Writer) HasLine() bool { return w.line != nil }

// ask sends what a barrier waits for.
func (w *Writer) ask(request *pb.WriteRequest) {
	w.t.Helper()
	if w.line == nil {
		w.Send(request)
		return
	}
	w.line.Send(w.sent, request)
}

// Next is the next event that is neither progress nor the end of a warm-up.
func (w *Writer) Next() *pb.WriteEvent {
	w.t.Helper()
	for {
		event := w.NextAny()
		if event.GetProgress() == nil && event.GetWarmed() == nil {
			return event
		}
	}
}

// NextAny is the next event of any kind.
func (w *Writer) NextAny() *pb.WriteEvent {
	w.t.Helper()
	select {
	case event := <-w.events:
		return event
	case err := <-w.Ended:
		w.t.Fatalf("the stream ended: %v", err)
	case <-time.After(Deadline):
		w.t.Fatal("no event in time")
	}
	return nil
}

// Failure is the next event, which must be WriterFailed.
func (w *Writer) Failure() *pb.Error {
	w.t.Helper()
	event := w.Next()
	if event.GetFailed() == nil {
		w.t.Fatalf("got %v, want WriterFailed", event)
	}
	return event.GetFailed().GetError()
}

// Opened takes the WriterOpened event.
func (w *Writer) Opened() *pb.WriterOpened {
	w.t.Helper()
	return expect(w, (*pb.WriteEvent).GetOpened)
}

// Begin opens an epoch.
func (w *Writer) Begin(epoch uint64, id string, gaps ...string) *pb.EpochBegun {
	w.t.Helper()
	w.Send(&pb.WriteRequest{Request: &pb.WriteRequest_Begin{Begin: &pb.BeginEpoch{
		EpochId: epoch, TransactionalId: id, GapTransactionalIds: gaps}}})
	return expect(w, (*pb.WriteEvent).GetBegun)
}

// Submit hands a parked batch over.
func (w *Writer) Submit(epoch uint64, batch *pb.SubmitBatch) {
	w.t.Helper()
	batch.EpochId = epoch
	w.Send(&pb.WriteRequest{Request: &pb.WriteRequest_Submit{Submit: batch}})
}

// Seal ends the epoch and takes its identity.
func (w *Writer) Seal(epoch, rows uint64) *pb.EpochSealed {
	w.t.Helper()
	w.ask(&pb.WriteRequest{Request: &pb.WriteRequest_Seal{Seal: &pb.SealEpoch{EpochId: epoch, Rows: rows}}})
	return expect(w, (*pb.WriteEvent).GetSealed)
}

// Flush asks for proof without ending the epoch.
func (w *Writer) Flush(epoch, rows uint64) *pb.EpochFlushed {
	w.t.Helper()
	w.ask(&pb.WriteRequest{Request: &pb.WriteRequest_Flush{Flush: &pb.FlushEpoch{EpochId: epoch, Rows: rows}}})
	return expect(w, (*pb.WriteEvent).GetFlushed)
}

// Close closes the client's side and waits for the daemon to end the stream.
func (w *Writer) Close() error {
	w.t.Helper()
	if err := w.stream.CloseSend(); err != nil {
		return err
	}
	select {
	case err := <-w.Ended:
		return err
	case <-time.After(Deadline):
		w.t.Fatal("the stream does not end")
		return nil
	}
}

// Cancel breaks the stream as the death of the process does.
func (w *Writer) Cancel() { w.cancel() }

func expect[M proto.Message](w *Writer, get func(*pb.WriteEvent) M) M {
	w.t.Helper()
	event := w.Next()
	m := get(event)
	if !m.ProtoReflect().IsValid() {
		w.t.Fatalf("got %v, want a %s", event, m.ProtoReflect().Descriptor().Name())
	}
	return m
}
