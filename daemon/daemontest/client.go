package daemontest

import (
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"penstock.dev/penstock/columnar"
	"penstock.dev/penstock/daemon/session"
	"penstock.dev/penstock/kafka/encode"
	pb "penstock.dev/penstock/proto/gen/penstock/v1"
	"penstock.dev/penstock/shm"
	"penstock.dev/penstock/shm/shmtest"
)

// Deadline bounds every single wait of this package.
const Deadline = 20 * time.Second

// Budget is the budget in Hello: more than any test leases.
const Budget = 1 << 30

// Hello is a greeting that the daemon accepts, of a process of its own.
func Hello(process string) *pb.Hello {
	return &pb.Hello{
		ProtocolMin: session.ProtocolMin, ProtocolMax: session.ProtocolMax,
		LayoutHash:    shm.LayoutHash(),
		ClientVersion: "test", FlinkVersion: "2.2.1", JacksonVersion: "2.18.2", JvmFeatureVersion: 17,
		FloatProbe:  encode.ProbeText(encode.FloatsLegacy),
		BudgetBytes: Budget, ClientName: "tm-" + process, Pid: uint64(os.Getpid()), ProcessId: []byte(process),
	}
}

// Client is the session of one JVM.
type Client struct {
	t       testing.TB
	Conn    *net.UnixConn
	Welcome *pb.Welcome
	Table   *shmtest.Table
	// nextSlot is the slot that Park tries first.
	nextSlot uint32
	segments []*shmtest.Segment
	kept     *int
}

// Dial connects to the session socket and says nothing yet.
func Dial(t testing.TB, path string) *Client {
	t.Helper()
	conn, err := net.DialUnix("unix", nil, &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	c := &Client{t: t, Conn: conn}
	t.Cleanup(c.Kill)
	return c
}

// Open dials and greets; the session is open when it returns.
func Open(t testing.TB, path, process string) *Client {
	t.Helper()
	c := Dial(t, path)
	if refused := c.Greet(Hello(process)); refused != nil {
		t.Fatalf("refused: %v", refused)
	}
	return c
}

// Greet sends Hello and takes Welcome with its table, or returns the refusal.
func (c *Client) Greet(hello *pb.Hello) *pb.Error {
	c.t.Helper()
	reply, fd := c.Ask(&pb.SessionRequest{Request: &pb.SessionRequest_Hello{Hello: hello}})
	if refused := reply.GetRefused(); refused != nil {
		return refused
	}
	c.Welcome = reply.GetWelcome()
	segment := c.mapped(fd, c.Welcome.GetTableSegmentBytes())
	c.Table = shmtest.TableOf(segment, c.Welcome.GetSessionId())
	c.nextSlot = c.Welcome.GetFirstSlot()
	return nil
}

// Ask sends one request and returns the reply and the descriptor that came with it, or -1.
func (c *Client) Ask(request *pb.SessionRequest) (*pb.SessionReply, int) {
	c.t.Helper()
	reply, fd, err := c.TryAsk(request)
	if err != nil {
		c.t.Fatal(err)
	}
	return reply, fd
}

// TryAsk is Ask for connections that may break.
func (c *Client) TryAsk(request *pb.SessionRequest) (*pb.SessionReply, int, error) {
	if err := c.Conn.SetDeadline(time.Now().Add(Deadline)); err != nil {
		return nil, -1, err
	}
	if err := session.WriteFrame(c.Conn, request); err != nil {
		return nil, -1, err
	}
	return c.Receive()
}

// Receive takes one reply.
func (c *Client) Receive() (*pb.SessionReply, int, error) {
	if err := c.Conn.SetDeadline(time.Now().Add(Deadline)); err != nil {
		return nil, -1, err
	}
	var reply pb.SessionReply
	if err := session.ReadFrame(c.Conn, &reply); err != nil {
		return nil, -1, err
	}
	if !reply.GetCarriesFd() {
		return &reply, -1, nil
	}
	fd, err := c.receiveDescriptor()
	return &reply, fd, err
}

// receiveDescriptor takes one dummy byte with exactly one descriptor, as netty does.
func (c *Client) receiveDescriptor() (int, error) {
	body, control := make([]byte, 1), make([]byte, unix.CmsgSpace(4*4))
	n, controls, flags, _, err := c.Conn.ReadMsgUnix(body, control)
	if err != nil {
		return -1, err
	}
	if n != 1 || flags&unix.MSG_CTRUNC != 0 {
		return -1, fmt.Errorf("%d bytes with flags %#x, want one dummy byte", n, flags)
	}
	messages, err := unix.ParseSocketControlMessage(control[:controls])
	if err != nil || len(messages) != 1 {
		return -1, errors.Join(fmt.Errorf("%d control messages, want 1", len(messages)), err)
	}
	fds, err := unix.ParseUnixRights(&messages[0])
	if err != nil || len(fds) != 1 {
		return -1, errors.Join(fmt.Errorf("%d descriptors, want 1", len(fds)), err)
	}
	return fds[0], nil
}

// mapped maps a segment and closes its descriptor at once; Kill, at the latest at the end of the test, unmaps.
func (c *Client) mapped(fd int, bytes uint64) *shmtest.Segment {
	c.t.Helper()
	segment, err := shmtest.Map(fd, int64(bytes))
	if err != nil {
		c.t.Fatal(err)
	}
	c.segments = append(c.segments, segment)
	if c.kept != nil {
		*c.kept = fd
		return segment
	}
	unix.Close(fd)
	return segment
}

// KeepDescriptor makes the client keep the descriptors of what it is granted from now on, as a process that leaks does; the result is
// that of the last one. Kill closes it.
func (c *Client) KeepDescriptor() *int {
	c.kept = new(int)
	*c.kept = -1
	return c.kept
}

// Lease asks for a data segment and maps it, or returns the refusal.
func (c *Client) Lease() (*shmtest.Segment, *pb.Error) {
	c.t.Helper()
	reply, fd := c.Ask(&pb.SessionRequest{Request: &pb.SessionRequest_Lease{Lease: &pb.LeaseRequest{Purpose: "test"}}})
	if refused := reply.GetRefused(); refused != nil {
		return nil, refused
	}
	return c.mapped(fd, reply.GetLease().GetSegmentBytes()), nil
}

// MustLease is Lease that must succeed.
func (c *Client) MustLease() *shmtest.Segment {
	c.t.Helper()
	segment, refused := c.Lease()
	if refused != nil {
		c.t.Fatalf("lease refused: %v", refused)
	}
	return segment
}

// Unmap lets go of a segment; Return follows.
func (c *Client) Unmap(segment *shmtest.Segment) {
	c.t.Helper()
	if err := segment.Close(); err != nil {
		c.t.Fatal(err)
	}
	c.segments = slices.DeleteFunc(c.segments, func(s *shmtest.Segment) bool { return s == segment })
}

// Return gives a segment back, or returns the refusal.
func (c *Client) Return(segmentID uint32) *pb.Error {
	c.t.Helper()
	reply, _ := c.Ask(&pb.SessionRequest{Request: &pb.SessionRequest_ReturnLease{ReturnLease: &pb.LeaseReturn{SegmentId: segmentID}}})
	return reply.GetRefused()
}

// Park writes a batch at offset of a data segment and publishes it in the next slot that is free; after the last one
// comes the first.
func (c *Client) Park(data *shmtest.Segment, offset uint64, b Batch) *pb.SubmitBatch {
	c.t.Helper()
	slot := c.freeSlot()
	generation, err := c.Table.ParkBatch(slot, data, offset, b.Body, b.Descriptor())
	if err != nil {
		c.t.Fatal(err)
	}
	return &pb.SubmitBatch{Slot: slot, Generation: generation, Sequence: b.Sequence}
}

// freeSlot is the next slot that is FREE; when none is, it is the next one.
func (c *Client) freeSlot() (slot uint32) {
	for range c.Welcome.GetSlotCount() {
		slot = c.nextSlot
		if c.nextSlot++; c.nextSlot == c.Welcome.GetFirstSlot()+c.Welcome.GetSlotCount() {
			c.nextSlot = c.Welcome.GetFirstSlot()
		}
		if c.Table.Word(slot).State() == shm.Free {
			break
		}
	}
	return slot
}

// Kill ends the connection and unmaps everything, as the death of the process does. Nobody may touch the client's memory any more.
func (c *Client) Kill() {
	c.HangUp()
	for _, segment := range c.segments {
		_ = segment.Close()
	}
	c.segments = nil
	if c.kept != nil {
		unix.Close(*c.kept)
	}
}

// HangUp ends the connection and leaves the memory mapped, as a process that lives on does.
func (c *Client) HangUp() { c.Conn.Close() }

// SchemaTag is the tag of every Batch.
const SchemaTag = 7

// Batch is one batch of the schema ROW<id BIGINT, name STRING>.
type Batch struct {
	Body     []byte
	Rows     uint32
	Sequence uint64
}

// Rows is a batch with the ids from first on, and with name "row-<id>".
func Rows(sequence uint64, first, count int) Batch {
	b := columnar.NewBuilder(RowType())
	for id := first; id < first+count; id++ {
		b.Append(0, int64(id), fmt.Sprintf("row-%d", id))
	}
	return Batch{Body: b.Finish(SchemaTag), Rows: uint32(count), Sequence: sequence}
}

// Descriptor is the slot's content, without the place of the batch.
func (b Batch) Descriptor() shmtest.Descriptor {
	return shmtest.Descriptor{SchemaTag: SchemaTag, Rows: b.Rows, Sequence: b.Sequence, Length: uint64(len(b.Body))}
}

// JSON is what the daemon must produce for row id.
func JSON(id int) string { return fmt.Sprintf(`{"id":%d,"name":"row-%d"}`, id, id) }

// RowType is the schema of Rows.
func RowType() *columnar.Type {
	return &columnar.Type{Kind: columnar.Row, FieldNames: []string{"id", "name"}, Children: []*columnar.Type{
		{Kind: columnar.BigInt}, {Kind: columnar.VarChar, Nullable: true},
	}}
}
