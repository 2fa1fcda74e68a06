package memctl

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

const limit = 20 * time.Second

func bounded(t *testing.T, length time.Duration) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), length)
	t.Cleanup(cancel)
	return ctx
}

// relief plays a trimmer or a spiller.
type relief func(a *Account, who Owner, need uint64)

func (r relief) Relieve(_ context.Context, a *Account, who Owner, need uint64) { r(a, who, need) }

func TestAReservationWaitsForAReturn(t *testing.T) {
	session := join(t, NewLedger(), "p", 1, 100, 0)
	writer := enter(t, session.Account(), 1, 7, 0)
	if err := session.Reserve(Lease, 80); err != nil {
		t.Fatal(err)
	}
	got := make(chan error)
	go func() { got <- writer.ReserveWithin(bounded(t, limit), EncodeBuffer, 50) }()
	for session.Account().Usage().Waits == 0 {
		time.Sleep(time.Millisecond)
	}
	for range 3 { // two returns are not enough
		if err := session.Return(Lease, 10); err != nil {
			t.Fatal(err)
		}
	}
	if err := <-got; err != nil {
		t.Fatal(err)
	}
	if u := session.Account().Usage(); u.Reserved != 100 || u.Denied != 0 || u.Waits != 1 {
		t.Errorf("%+v", u)
	}
}

func TestWaitingEndsInADenial(t *testing.T) {
	session := join(t, NewLedger(), "p", 1, 100, 0)
	if err := session.Reserve(Lease, 80); err != nil {
		t.Fatal(err)
	}
	err := session.ReserveWithin(bounded(t, 30*time.Millisecond), Lease, 21)
	if denied := (*DeniedError)(nil); !errors.As(err, &denied) || denied.Waited < 30*time.Millisecond ||
		!strings.Contains(err.Error(), "and waited") {
		t.Errorf("%v", err)
	}
	// What can never fit, and what has no bound, does not wait.
	for _, err := range []error{session.ReserveWithin(bounded(t, limit), Lease, 101),
		session.ReserveWithin(context.Background(), Lease, 21)} {
		if denied := (*DeniedError)(nil); !errors.As(err, &denied) || denied.Waited != 0 {
			t.Errorf("%v", err)
		}
	}
	if u := session.Account().Usage(); u.Denied != 3 || u.Waits != 1 {
		t.Errorf("%+v", u)
	}
}

// The relievers are asked in their order, each time with what is needed, and their returns end the wait.
func TestRelieversAreAskedBeforeADenial(t *testing.T) {
	var asked atomic.Int32
	var session *Share
	idle := relief(func(a *Account, who Owner, need uint64) {
		asked.Add(1)
		if who.Session != 1 || need != 40 || a != session.Account() {
			t.Errorf("asked for %d in the name of %v", need, who)
		}
	})
	spill := relief(func(*Account, Owner, uint64) {
		if asked.Load() == 0 {
			t.Error("the second reliever was asked first")
		}
		if err := session.Return(Lease, 20); err != nil {
			t.Error(err)
		}
	})
	session = join(t, NewLedger(idle, spill), "p", 1, 100, 0)
	if err := session.Reserve(Lease, 100); err != nil {
		t.Fatal(err)
	}
	if err := session.ReserveWithin(bounded(t, limit), Lease, 40); err != nil {
		t.Fatal(err)
	}
	if n := asked.Load(); n != 2 {
		t.Errorf("asked %d times, want 2: 20 bytes come back each time", n)
	}
}

// Every owner waits in a reservation at one time, and each reliever calls the ledger: nothing is called under its lock.
func TestRelieversMayUseTheLedgerWhileAllWait(t *testing.T) {
	const owners = 8
	var shares [owners]*Share
	var l *Ledger
	l = NewLedger(relief(func(a *Account, who Owner, _ uint64) {
		_, _ = l.Usage(), a.Usage()
		for _, s := range shares {
			_ = s.Held()
		}
	}))
	session := join(t, l, "p", 1, owners*10, 0)
	for i := range shares {
		shares[i] = enter(t, session.Account(), 1, uint64(i+1), 0)
		if err := shares[i].Reserve(EncodeBuffer, 10); err != nil {
			t.Fatal(err)
		}
	}
	var wg sync.WaitGroup
	for _, s := range shares {
		wg.Go(func() {
			if err := s.ReserveWithin(bounded(t, 200*time.Millisecond), EncodeBuffer, 5); err != nil && !errors.As(err, new(*DeniedError)) {
				t.Error(err)
			}
			s.Leave()
		})
	}
	wg.Wait()
	if u := session.Account().Usage(); u.Reserved != 0 || u.Waits == 0 {
		t.Errorf("%+v", u)
	}
}
