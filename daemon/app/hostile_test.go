package app

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/grpc"

	"penstock.dev/penstock/daemon/config"
	"penstock.dev/penstock/daemon/daemontest"
	"penstock.dev/penstock/kafka/kafkatest"
	pb "penstock.dev/penstock/proto/gen/penstock/v1"
	"penstock.dev/penstock/shm"
	"penstock.dev/penstock/shm/shmtest"
)

// secret stands everywhere in shared memory where no batch is: it must never get into a record.
var secret = []byte("SECRET")

// hostile is a client that writes whatever it wants into its memory.
type hostile struct {
	t      *testing.T
	r      *running
	client *daemontest.Client
	data   *shmtest.Segment
	api    *grpc.ClientConn
	writer *daemontest.Writer
	epochs int
	// sequence is that of the next batch of the writer.
	sequence uint64
	// refused counts what the daemon refused, by kind; taken what it wrote.
	refused map[pb.ErrorKind]int
	taken   int
}

func newHostile(t *testing.T, r *running, process string) *hostile {
	h := &hostile{t: t, r: r, client: r.client(process), api: r.api(), refused: map[pb.ErrorKind]int{}}
	h.data = h.client.MustLease()
	h.fill()
	return h
}

// fill puts the secret everywhere.
func (h *hostile) fill() {
	body := h.data.Mem[shm.SegmentHeaderBytes:]
	for at := 0; at+len(secret) <= len(body); at += len(secret) {
		copy(body[at:], secret)
	}
}

// attempt parks a good batch, lets spoil do its work and submits. What comes back must be a typed answer.
func (h *hostile) attempt(what string, spoil func(slot uint32)) {
	h.t.Helper()
	if h.writer == nil {
		h.open()
	}
	batch := daemontest.Rows(h.sequence, 0, 3)
	slot := h.freeSlot()
	generation, err := h.client.Table.ParkBatch(slot, h.data, shm.SegmentHeaderBytes, batch.Body, batch.Descriptor())
	if err != nil {
		h.t.Fatal(err)
	}
	spoil(slot)
	h.writer.Submit(1, &pb.SubmitBatch{Slot: slot, Generation: generation, Sequence: h.sequence})
	h.sequence++
	h.writer.Send(&pb.WriteRequest{Request: &pb.WriteRequest_Seal{Seal: &pb.SealEpoch{EpochId: 1, Rows: 3}}})
	h.judge(what, h.writer.Next())
	h.writer.Cancel()
	h.writer = nil
	h.restore(slot, generation)
}

// open begins an epoch on a new writer, since a writer's first failure is its last.
func (h *hostile) open() {
	h.t.Helper()
	h.writer = daemontest.NewWriter(h.t, h.api, daemontest.OpenRequest(h.client, pb.DeliveryGuarantee_EXACTLY_ONCE))
	h.writer.Opened()
	h.epochs++
	h.writer.Begin(1, h.id())
	h.sequence = 1
}

func (h *hostile) id() string {
	return fmt.Sprintf("hostile-%d-%d", h.client.Welcome.GetSessionId(), h.epochs)
}

func (h *hostile) judge(what string, event *pb.WriteEvent) {
	h.t.Helper()
	if failed := event.GetFailed(); failed != nil {
		h.refused[failed.GetError().GetKind()]++
		switch failed.GetError().GetKind() {
		case pb.ErrorKind_STALE_HANDLE, pb.ErrorKind_FOREIGN_HANDLE, pb.ErrorKind_BAD_REQUEST, pb.ErrorKind_FAIL_EPOCH:
		default:
			h.t.Errorf("%s: %v", what, failed)
		}
		return
	}
	if event.GetSealed() == nil {
		h.t.Errorf("%s: %v", what, event)
		return
	}
	h.taken++
	for _, record := range h.r.engine.Sealed(h.id()).Records {
		if bytes.Contains(record.Value, secret) || bytes.Contains(record.Key, secret) {
			h.t.Errorf("%s: a record has bytes that are not of its batch: %q", what, record.Value)
		}
	}
}

// freeSlot is a slot that a client may use.
func (h *hostile) freeSlot() uint32 {
	first := h.client.Welcome.GetFirstSlot()
	for slot := first; slot < first+h.client.Welcome.GetSlotCount(); slot++ {
		if h.client.Table.Word(slot).State() == shm.Free {
			return slot
		}
	}
	h.t.Fatal("every slot is spoiled")
	return 0
}

// restore makes the memory good again; the slot's word goes to FREE under the next generation.
func (h *hostile) restore(slot, generation uint32) {
	h.client.Table.SetWord(slot, shm.MakeWord(generation+1, shm.Free, shm.Daemon))
	h.fill()
}

// values are what every byte becomes.
func values(old byte) []byte { return []byte{old ^ 1, old ^ 0x80, 0xff} }

// TestEveryByteOfAHostileClient: each byte of a slot (with the checksum wrong, and made right again), of both headers and of a batch
// takes several values. The answer is always a typed error or a record of the client's own bytes; a neighbour's epochs are exact.
func TestEveryByteOfAHostileClient(t *testing.T) {
	r := start(t, kafkatest.Faults{}, func(c *config.Config) { c.Writer.MaxWriters = 10_000 })
	stop := neighbour(t, r)
	h := newHostile(t, r, "hostile")
	each := func(what string, mem func(slot uint32) []byte, from, to int, after func(slot uint32)) {
		for at := from; at < to; at++ {
			for i := range valuesOfAByte {
				h.attempt(fmt.Sprintf("%s, byte %d, value %d", what, at, i), func(slot uint32) {
					m := mem(slot)
					m[at] = values(m[at])[i]
					after(slot)
				})
			}
		}
	}
	nothing := func(uint32) {}
	size := len(daemontest.Rows(1, 0, 3).Body)
	slotMemory := func(slot uint32) []byte { return h.client.Table.Slot(slot) }
	each("slot", slotMemory, 0, shm.SlotBytes, nothing)
	each("slot, sealed again", slotMemory, 8, shm.SlotCRC, func(slot uint32) {
		mem := h.client.Table.Slot(slot)
		binary.LittleEndian.PutUint32(mem[shm.SlotCRC:], shm.SlotChecksum(mem))
	})
	each("batch", func(uint32) []byte { return h.data.Mem[shm.SegmentHeaderBytes:] }, 0, size, nothing)
	each("header of the table", func(uint32) []byte { return h.client.Table.Mem }, 0, 72, nothing)
	each("header of the segment", func(uint32) []byte { return h.data.Mem }, 0, 72, nothing)
	for _, kind := range []pb.ErrorKind{pb.ErrorKind_STALE_HANDLE, pb.ErrorKind_FOREIGN_HANDLE, pb.ErrorKind_BAD_REQUEST} {
		if h.refused[kind] == 0 {
			t.Errorf("nothing was refused with %v: %v", kind, h.refused)
		}
	}
	if h.taken == 0 {
		t.Error("no spoiled byte was harmless")
	}
	if epochs := stop(); epochs == 0 {
		t.Error("the neighbour did nothing")
	}
	t.Logf("refused %v, taken %d", h.refused, h.taken)
	h.client.Kill()
	r.requireNothingHeld()
}

// TestBytesThatChangeWhileTheyAreRead: a hostile client scribbles on everything at the moment at which the daemon looks.
func TestBytesThatChangeWhileTheyAreRead(t *testing.T) {
	r := start(t, kafkatest.Faults{}, func(c *config.Config) { c.Writer.MaxWriters = 10_000 })
	stop := neighbour(t, r)
	h := newHostile(t, r, "hostile")
	size := len(daemontest.Rows(1, 0, 3).Body)
	var quiet atomic.Bool
	var scribblers sync.WaitGroup
	scribblers.Go(func() {
		random := rand.New(rand.NewPCG(1, 1))
		slots := h.client.Table.Mem[shm.SegmentHeaderBytes:]
		for !quiet.Load() {
			for range 16 {
				shmtest.Scribble(h.data.Mem, shm.SegmentHeaderBytes+random.IntN(size), byte(random.Uint32()))
				shmtest.Scribble(slots, 8+random.IntN(shm.SlotBytes-8), byte(random.Uint32()))
			}
			time.Sleep(20 * time.Microsecond)
		}
	})
	for i := range 300 {
		h.attempt(fmt.Sprintf("attempt %d", i), func(uint32) {})
	}
	quiet.Store(true)
	scribblers.Wait()
	if epochs := stop(); epochs == 0 {
		t.Error("the neighbour did nothing")
	}
	t.Logf("refused %v, taken %d", h.refused, h.taken)
	h.client.Kill()
	r.requireNothingHeld()
}

// neighbour runs epochs of another client until the returned function is called, which says how many there were; each must be exact.
func neighbour(t *testing.T, r *running) (stop func() (epochs int)) {
	c := r.client("neighbour")
	data := c.MustLease()
	w := r.writer(c, pb.DeliveryGuarantee_EXACTLY_ONCE)
	enough := make(chan struct{})
	var done sync.WaitGroup
	epochs := 0
	done.Go(func() {
		for sequence := uint64(1); ; sequence++ {
			id := fmt.Sprintf("neighbour-%d", sequence)
			w.Begin(sequence, id)
			w.Submit(sequence, c.Park(data, shm.SegmentHeaderBytes, daemontest.Rows(sequence, 7, 5)))
			w.Seal(sequence, 5)
			requireValues(t, r.engine.Sealed(id), 7, 5)
			epochs++
			select {
			case <-enough:
				return
			case <-time.After(time.Millisecond):
			}
		}
	})
	return func() int {
		close(enough)
		done.Wait()
		c.Kill()
		return epochs
	}
}
