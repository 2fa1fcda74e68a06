package main

import (
	"time"

	"penstock.dev/penstock/memctl"
	"penstock.dev/penstock/shm"
	"penstock.dev/penstock/shm/shmtest"
)

const (
	session = 1
	slots   = 10_000
)

// arenaOf is an arena with segments of a size, all of them warm.
func arenaOf(segment int64, warm int) (*shm.Arena, error) {
	return shm.NewArena(shm.Config{Capacity: segment*int64(warm+2) + 4<<20, SegmentBytes: segment, WarmSegments: warm})
}

// pair is a session's memory and both sides' views of it.
type pair struct {
	arena *shm.Arena
	table *shm.Table
	view  *shm.View
	data  *shm.Segment
	peer  *shmtest.Table
}

func newPair(segment int64) (*pair, error) {
	p := &pair{}
	var err error
	if p.arena, err = arenaOf(segment, 1); err != nil {
		return nil, err
	}
	if p.table, err = p.arena.NewTable(session, slots); err != nil {
		return nil, err
	}
	p.view = shm.NewView(p.arena, p.table)
	if p.data, err = p.arena.Lease(session, "bench"); err != nil {
		return nil, err
	}
	p.peer, err = shmtest.MapTable(p.table)
	return p, err
}

func (p *pair) descriptor(length uint64) shmtest.Descriptor {
	return shmtest.Descriptor{SegmentID: p.data.ID(), SchemaTag: 1, Offset: shm.SegmentHeaderBytes, Length: length, Rows: 1, Sequence: 1}
}

// parkFigures: reserve, describe, park; read, check, claim; release, settle. All of it, without RPC.
func parkFigures() ([]figure, error) {
	p, err := newPair(1 << 20)
	if err != nil {
		return nil, err
	}
	defer p.arena.Close()
	slot, d := p.table.First(), p.descriptor(64<<10)
	whole, err := loops(2000, 1000, func() error {
		generation, err := p.peer.Park(slot, d)
		if err != nil {
			return err
		}
		e, err := p.view.Claim(slot, generation)
		if err != nil {
			return err
		}
		e.Release()
		return p.table.Settle(slot, generation, shm.Daemon)
	})
	if err != nil {
		return nil, err
	}
	return []figure{times("park, claim, settle in one process, one batch", whole, time.Nanosecond, 0, ""),
		oneWay(p)}, nil
}

// oneWay is park and claim alone, as the bar has it; settling is outside of the clock.
func oneWay(p *pair) figure {
	d := p.descriptor(64 << 10)
	var samples []time.Duration
	for range 200 {
		var handles [1000]uint32
		start := time.Now()
		for i := range handles {
			handles[i], _ = p.peer.Park(p.table.First()+uint32(i), d)
			_ = p.table.Claim(p.table.First()+uint32(i), handles[i], shm.Daemon)
		}
		samples = append(samples, time.Since(start)/time.Duration(len(handles)))
		for i, generation := range handles {
			_ = p.table.Settle(p.table.First()+uint32(i), generation, shm.Daemon)
		}
	}
	return times("park -> claim in one process", samples, time.Nanosecond, 100, "p50")
}

// ledgerFigures: one reservation and its return, in an account with 16 owners.
func ledgerFigures() ([]figure, error) {
	var last *memctl.Share
	ledger := memctl.NewLedger()
	for i := range uint32(16) {
		share, err := ledger.Join([]byte("p"), i+1, 1<<30, 1<<20, "tm")
		if err != nil {
			return nil, err
		}
		last = share
	}
	samples, err := loops(500, 1000, func() error {
		if err := last.Reserve(memctl.Lease, 4096); err != nil {
			return err
		}
		return last.Return(memctl.Lease, 4096)
	})
	return []figure{times("reserve and return in the ledger", samples, time.Nanosecond, 0, "")}, err
}
