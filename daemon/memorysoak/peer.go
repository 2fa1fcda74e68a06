package memorysoak

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"testing"
	"time"

	"penstock.dev/penstock/daemon/daemontest"
	"penstock.dev/penstock/daemon/session"
	pb "penstock.dev/penstock/proto/gen/penstock/v1"
	"penstock.dev/penstock/shm"
	"penstock.dev/penstock/shm/shmtest"
)

// peerLife ends a peer that nobody kills.
const peerLife = time.Minute

// order is what a peer is told, through the environment.
type order struct {
	SessionPath, APIPath, Broker, Topic string
	Process                             string
	Point                               string
	Seed                                uint64
	// Fill is how many segments the peer leases and writes from end to end before it does anything else.
	Fill int
}

// peer is a client process on its way to its point.
type peer struct {
	t      testing.TB
	order  order
	random *rand.Rand
	client *daemontest.Client
	data   []*shmtest.Segment
}

// play goes to the point, says so on standard output, and waits there to be killed. What it says is its session's number, 0 before
// Welcome. A writing peer never waits.
func play(o order) {
	p := &peer{t: daemontest.Program(), order: o, random: rand.New(rand.NewPCG(o.Seed, 7))}
	at, err := pointOf(o.Point)
	if err != nil {
		p.t.Fatal(err)
	}
	p.client = daemontest.Dial(p.t, o.SessionPath)
	if at > halfHello {
		p.open()
	}
	for range o.Fill {
		fill(p.client.MustLease().Mem[shm.SegmentHeaderBytes:])
	}
	p.advance(at)
	p.arrived()
	if at == writing {
		p.write()
	}
	time.Sleep(peerLife)
	os.Exit(1)
}

func (p *peer) open() {
	hello := daemontest.Hello(p.order.Process)
	hello.BudgetBytes = 256 << 20
	if refused := p.client.Greet(hello); refused != nil {
		p.t.Fatal(refused)
	}
}

func fill(mem []byte) {
	for i := range mem {
		mem[i] = 0xaa
	}
}

func (p *peer) arrived() { fmt.Println(p.client.Welcome.GetSessionId()) }

// advance makes the steps before the point.
func (p *peer) advance(at point) {
	switch at {
	case connected, opened:
		return
	case halfHello:
		p.half(&pb.SessionRequest{Request: &pb.SessionRequest_Hello{Hello: daemontest.Hello(p.order.Process)}})
		return
	case halfLease:
		p.half(leaseRequest())
		return
	case leaseAsked:
		if err := session.WriteFrame(p.client.Conn, leaseRequest()); err != nil {
			p.t.Fatal(err)
		}
		return
	}
	for range 1 + p.random.IntN(3) {
		p.data = append(p.data, p.client.MustLease())
	}
	slots := p.slots()
	for i := range slots {
		slot := p.client.Welcome.GetFirstSlot() + uint32(i)
		switch at {
		case reserved:
			_, _ = p.client.Table.Reserve(slot)
		case described:
			_, _ = p.client.Table.Tear(slot, p.descriptor(slot), 8+p.random.IntN(53))
		case parked:
			_, _ = p.client.Table.Park(slot, p.descriptor(slot))
		case scribbled:
			p.scribble(slot)
		}
	}
}

// slots is how many slots are touched before the point: none for leased and writing.
func (p *peer) slots() int {
	return 1 + p.random.IntN(int(p.client.Welcome.GetSlotCount())-1)
}

func (p *peer) descriptor(slot uint32) shmtest.Descriptor {
	return shmtest.Descriptor{SegmentID: p.data[0].ID(), SchemaTag: daemontest.SchemaTag, Offset: shm.SegmentHeaderBytes, Length: 4096,
		Rows: 1, Sequence: uint64(slot) + 1}
}

func (p *peer) scribble(slot uint32) {
	le, mem := binary.LittleEndian, p.client.Table.Slot(slot)
	for at := 8; at < shm.SlotBytes; at += 8 {
		le.PutUint64(mem[at:], p.random.Uint64())
	}
	p.client.Table.SetWord(slot, shm.Word(p.random.Uint64()))
	data := p.data[p.random.IntN(len(p.data))].Mem
	le.PutUint64(data[p.random.IntN(len(data)-8):], p.random.Uint64())
}

// half sends a part of a frame.
func (p *peer) half(request *pb.SessionRequest) {
	var whole frame
	if err := session.WriteFrame(&whole, request); err != nil {
		p.t.Fatal(err)
	}
	if _, err := p.client.Conn.Write(whole[:1+p.random.IntN(len(whole)-1)]); err != nil {
		p.t.Fatal(err)
	}
}

// frame collects one.
type frame []byte

func (f *frame) Write(b []byte) (int, error) {
	*f = append(*f, b...)
	return len(b), nil
}

func leaseRequest() *pb.SessionRequest {
	return &pb.SessionRequest{Request: &pb.SessionRequest_Lease{Lease: &pb.LeaseRequest{Purpose: "soak"}}}
}

// write submits batches to a writer for as long as the process lives.
func (p *peer) write() {
	const extent = 64 << 10
	open := daemontest.OpenRequest(p.client, pb.DeliveryGuarantee_NONE)
	open.Topic = p.order.Topic
	k := open.Kafka
	k.BootstrapServers, k.BufferBytes = []string{p.order.Broker}, 1<<20
	k.ConnectionSetupTimeoutMs, k.MetadataMaxAgeMs, k.ReconnectBackoffMaxMs = 10_000, 300_000, 1_000
	w := daemontest.NewWriter(p.t, daemontest.API(p.t, p.order.APIPath), open)
	w.Opened()
	w.Begin(1, "")
	inFlight := min(int(p.client.Welcome.GetSlotCount()), 8)
	for sequence := uint64(1); ; sequence++ {
		slot := p.client.Welcome.GetFirstSlot() + uint32(sequence)%uint32(inFlight)
		for p.client.Table.Word(slot).State() != shm.Free {
			time.Sleep(10 * time.Microsecond)
		}
		batch := daemontest.Rows(sequence, 0, 100)
		offset := uint64(shm.SegmentHeaderBytes + extent*(int(sequence)%inFlight))
		generation, err := p.client.Table.ParkBatch(slot, p.data[0], offset, batch.Body, batch.Descriptor())
		if err != nil {
			p.t.Fatal(err)
		}
		w.Submit(1, &pb.SubmitBatch{Slot: slot, Generation: generation, Sequence: sequence})
	}
}
