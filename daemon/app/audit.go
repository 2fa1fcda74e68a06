package app

import (
	"context"
	"time"

	"penstock.dev/penstock/daemon/telemetry"
	"penstock.dev/penstock/memctl"
)

// auditInterval is how often the books are compared.
const auditInterval = time.Second

// difference is one disagreement: what a book says of something, and what was found.
type difference struct {
	what          string
	session, slot uint32
	book, found   int64
}

func (d difference) amount() int64 { return max(d.book-d.found, d.found-d.book) }

// auditor compares the books that are kept apart: the accounts, the arena's leases, the kernel's blocks, and the slots' words with the
// daemon's record of them. What it finds twice in a row, in the same numbers, is no step under way but a defect, or a client that
// writes where it may not: it is counted and logged, once for as long as it lasts.
type auditor struct {
	app  *App
	last map[difference]int
}

// audit is the task.
func (a *App) audit(ctx context.Context) error {
	auditor := &auditor{app: a, last: map[difference]int{}}
	ticker := time.NewTicker(auditInterval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
			auditor.round()
		}
	}
}

// round makes one comparison.
func (a *auditor) round() {
	now := map[difference]int{}
	var lasting int64
	for _, d := range a.app.differences() {
		now[d] = a.last[d] + 1
		if now[d] < 2 {
			continue
		}
		lasting = max(lasting, d.amount())
		if now[d] == 2 {
			a.app.counters.Differences.Add(1)
			a.app.log.Error("the books of memory disagree: a defect, or a client that writes where it may not; keep the output of "+
				"`penstockd status --json --slots` for a report", telemetry.FieldWhat, d.what, telemetry.FieldSession, d.session,
				telemetry.FieldSlot, d.slot, telemetry.FieldBook, d.book, telemetry.FieldFound, d.found)
		}
	}
	a.last = now
	a.app.counters.Difference.Store(uint64(lasting))
}

// differences are those of this moment; some may be steps under way.
func (a *App) differences() []difference {
	stats, err := a.arena.Stats()
	if err != nil {
		a.log.Warn("the kernel does not tell the size of the segments", telemetry.FieldError, err)
		return nil
	}
	var list []difference
	if book := stats.Used - stats.Changing; book != stats.Kernel {
		list = append(list, difference{what: "bytes of the arena's segments, and of the kernel's blocks", book: book, found: stats.Kernel})
	}
	for _, x := range a.sessions.All() {
		steps := x.Steps()
		held, leased := int64(x.Share().Held()[memctl.Lease]), a.leasedBytes(x.ID())
		if steps%2 == 0 && steps == x.Steps() && held != leased {
			list = append(list, difference{what: "bytes in the account, and leased", session: x.ID(), book: held, found: leased})
		}
		for _, torn := range x.Torn() {
			d := difference{what: "claims by the daemon's record, and in the slot", session: x.ID(), slot: torn.Slot, found: 1}
			if torn.Claimed {
				d.book, d.found = 1, 0
			}
			list = append(list, d)
		}
	}
	return list
}

// leasedBytes is what the arena has granted to a session.
func (a *App) leasedBytes(session uint32) (sum int64) {
	for _, l := range a.arena.Leases() {
		if l.Owner == session {
			sum += l.Bytes
		}
	}
	return sum
}
