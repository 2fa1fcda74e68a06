package daemontest

import (
	"testing"
	"time"

	pb "penstock.dev/penstock/proto/gen/penstock/v1"
	"penstock.dev/penstock/shm"
	"penstock.dev/penstock/shm/shmtest"
)

// Pusher plays the task thread of a sink: it parks batches of consecutive rows under a credit window, and uses an extent again when its
// slot is FREE.
type Pusher struct {
	t      testing.TB
	client *Client
	writer *Writer
	data   *shmtest.Segment
	// window has the batch that lies in each extent.
	window []*pb.SubmitBatch
	extent uint64

	rows     int
	sequence uint64
	// Next is the id of the next row, which is the number of rows pushed so far.
	Next int
}

// NewPusher leases one segment, which must hold window extents. Each batch has rows rows and fits into extent bytes.
func NewPusher(c *Client, w *Writer, window int, extent uint64, rows int) *Pusher {
	c.t.Helper()
	return &Pusher{t: c.t, client: c, writer: w, data: c.MustLease(), window: make([]*pb.SubmitBatch, window), extent: extent, rows: rows}
}

// Push parks and submits one batch; it returns false, and has done nothing, when no credit came back within limit.
func (p *Pusher) Push(epoch uint64, limit time.Duration) bool {
	p.t.Helper()
	at := p.credit()
	for end := time.Now().Add(limit); at < 0; at = p.credit() {
		if time.Now().After(end) {
			return false
		}
		time.Sleep(200 * time.Microsecond)
	}
	batch := Rows(p.sequence+1, p.Next, p.rows)
	if uint64(len(batch.Body)) > p.extent {
		p.t.Fatalf("%d rows have %d bytes, the extents %d", p.rows, len(batch.Body), p.extent)
	}
	submitted := p.client.Park(p.data, shm.SegmentHeaderBytes+uint64(at)*p.extent, batch)
	p.writer.Submit(epoch, submitted)
	p.window[at] = submitted
	p.sequence++
	p.Next += p.rows
	return true
}

// credit is an extent whose batch has been given back, -1 when there is none.
func (p *Pusher) credit() int {
	for i, b := range p.window {
		if b == nil || p.client.Table.Word(b.GetSlot()).Generation() != b.GetGeneration() {
			return i
		}
	}
	return -1
}

// MustPush pushes n batches.
func (p *Pusher) MustPush(epoch uint64, n int) {
	p.t.Helper()
	for range n {
		if !p.Push(epoch, Deadline) {
			p.t.Fatalf("no credit after %d rows", p.Next)
		}
	}
}
