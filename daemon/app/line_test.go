package app

import (
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"penstock.dev/penstock/daemon/daemontest"
	"penstock.dev/penstock/kafka/kafkatest"
	pb "penstock.dev/penstock/proto/gen/penstock/v1"
	"penstock.dev/penstock/shm/shmtest"
)

// lined is a writer with a line.
type lined struct {
	*running
	client *daemontest.Client
	data   *shmtest.Segment
	writer *daemontest.Writer
	id     uint64
	line   *daemontest.Line
}

func startLined(t *testing.T) *lined {
	t.Helper()
	r := start(t, kafkatest.Faults{}, nil)
	l := &lined{running: r, client: r.client("p1")}
	l.data = l.client.MustLease()
	l.writer = daemontest.NewWriter(t, r.api(), daemontest.OpenRequest(l.client, pb.DeliveryGuarantee_EXACTLY_ONCE))
	opened := l.writer.Opened()
	if !opened.GetLine() {
		t.Fatal("the daemon offers no line")
	}
	l.id = opened.GetWriterId()
	var refused *pb.Error
	if l.line, refused = daemontest.Attach(t, r.config.Listen.SessionPath(), l.client, l.id); refused != nil {
		t.Fatalf("the line was refused: %v", refused)
	}
	return l
}

func (l *lined) batch(sequence uint64, first, rows int) *pb.SubmitBatch {
	l.t.Helper()
	batch := l.client.Park(l.data, dataStart+(sequence-1)<<16, daemontest.Rows(sequence, first, rows))
	batch.EpochId = 1
	return batch
}

func submitRequest(batch *pb.SubmitBatch) *pb.WriteRequest {
	return &pb.WriteRequest{Request: &pb.WriteRequest_Submit{Submit: batch}}
}

func sealRequest(epoch, rows uint64) *pb.WriteRequest {
	return &pb.WriteRequest{Request: &pb.WriteRequest_Seal{Seal: &pb.SealEpoch{EpochId: epoch, Rows: rows}}}
}

// What a barrier asks on the line is answered there, behind what the stream has brought before.
func TestABarrierTakesTheLine(t *testing.T) {
	l := startLined(t)
	l.writer.Begin(1, "tx-1")
	l.writer.Submit(1, l.batch(1, 0, 3))
	l.line.Send(3, submitRequest(l.batch(2, 3, 2)), sealRequest(1, 5)) // after Open, Begin, Submit
	if sealed := l.line.Next().GetSealed(); sealed.GetRows() != 5 || sealed.GetTransactionalId() != "tx-1" {
		t.Errorf("sealed %v, want 5 rows of tx-1", sealed)
	}
	if records := l.engine.Sealed("tx-1").Records; len(records) != 5 || !strings.Contains(string(records[4].Value), `"id":4`) {
		t.Errorf("the transaction has %v, want the ids 0 to 4 in order", records)
	}
	if answers := l.app.Status().GetCounters().GetLineAnswers(); answers != 1 {
		t.Errorf("%d answers were counted, want 1", answers)
	}
	// The stream goes on as if nothing had happened: the next event there is the answer to this.
	l.writer.Begin(2, "tx-2")
}

// A request of the line waits for those of the stream that the client has sent before it.
func TestALineWaitsForTheStream(t *testing.T) {
	l := startLined(t)
	l.writer.Begin(1, "tx-1")
	l.line.Send(3, sealRequest(1, 3))
	l.line.Quiet(100 * time.Millisecond)
	l.writer.Submit(1, l.batch(1, 0, 3))
	if sealed := l.line.Next().GetSealed(); sealed.GetRows() != 3 {
		t.Errorf("sealed %v, want 3 rows", sealed)
	}
}

// A failure is told on the stream, where every failure is, and the line ends with the writer.
func TestAFailureOnTheLineIsToldOnTheStream(t *testing.T) {
	l := startLined(t)
	l.writer.Begin(1, "tx-1")
	l.line.Send(2, sealRequest(1, 7))
	if failure := l.writer.Failure(); !strings.Contains(failure.GetMessage(), "7 rows") {
		t.Errorf("the failure is %v", failure)
	}
	l.writer.Cancel()
	if err := l.line.End(); !errors.Is(err, io.EOF) {
		t.Errorf("the line ended with %v, want EOF and no answer", err)
	}
}

// Without its line a writer goes on over the stream.
func TestAWriterOutlivesItsLine(t *testing.T) {
	l := startLined(t)
	l.writer.Begin(1, "tx-1")
	l.line.Conn.Close()
	l.writer.Submit(1, l.batch(1, 0, 3))
	if sealed := l.writer.Seal(1, 3); sealed.GetRows() != 3 {
		t.Errorf("sealed %v, want 3 rows", sealed)
	}
	if answers := l.app.Status().GetCounters().GetLineAnswers(); answers != 0 {
		t.Errorf("%d answers went over a line that nobody asked on", answers)
	}
}

// The client's half-close ends a line whose request waits for the stream in vain.
func TestAWaitingLineEndsWithTheStream(t *testing.T) {
	l := startLined(t)
	l.line.Send(1000, sealRequest(1, 3))
	l.line.Quiet(20 * time.Millisecond)
	if err := l.writer.Close(); !errors.Is(err, io.EOF) {
		t.Fatal(err)
	}
	if err := l.line.End(); !errors.Is(err, io.EOF) {
		t.Errorf("the line ended with %v, want EOF", err)
	}
}

func TestLinesAreRefused(t *testing.T) {
	l := startLined(t)
	good := func() *pb.AttachLine {
		return &pb.AttachLine{SessionId: l.client.Welcome.GetSessionId(), Token: l.client.Welcome.GetToken(), WriterId: l.id}
	}
	for _, c := range []struct {
		name  string
		spoil func(*pb.AttachLine)
		kind  pb.ErrorKind
		words string
	}{
		{"a second line", func(*pb.AttachLine) {}, pb.ErrorKind_BAD_REQUEST, "has its line already"},
		{"no such writer", func(a *pb.AttachLine) { a.WriterId += 99 }, pb.ErrorKind_BAD_REQUEST, "does not exist"},
		{"no such session", func(a *pb.AttachLine) { a.SessionId += 99 }, pb.ErrorKind_FOREIGN_HANDLE, "does not exist in this daemon"},
		{"another's token", func(a *pb.AttachLine) { a.Token = []byte("0123456789abcdef") }, pb.ErrorKind_FOREIGN_HANDLE, "token"},
	} {
		t.Run(c.name, func(t *testing.T) {
			attach := good()
			c.spoil(attach)
			_, refused := daemontest.AttachWith(t, l.config.Listen.SessionPath(), attach)
			if refused.GetKind() != c.kind || !strings.Contains(refused.GetMessage(), c.words) {
				t.Errorf("refused with %v, want %v and %q", refused, c.kind, c.words)
			}
		})
	}
	if sessions := l.app.sessions.Connections(); sessions != 1 {
		t.Errorf("%d connections count as sessions, want the 1 that is one", sessions)
	}
}
