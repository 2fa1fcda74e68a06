package memctl

import (
	"context"
	"errors"
	"time"
)

// Reliever makes room in an account when a reservation does not fit: it trims what is idle, or spills what waits.
type Reliever interface {
	// Relieve is asked for need bytes of the account in the name of who. It returns when it has done or begun what it can, well
	// before ctx ends; what it frees comes back through Share.Return or Share.Leave as always. No lock is held when it is called,
	// and several reservations may call it at one time. It must not reserve.
	Relieve(ctx context.Context, a *Account, who Owner, need uint64)
}

// relieveAgain is after how long a reservation that still waits asks the relievers once more: what was busy then may be idle now.
const relieveAgain = 50 * time.Millisecond

// within makes a step until it is not denied or ctx ends.
func (a *Account) within(ctx context.Context, step func() error) error {
	start := time.Now()
	changed, denied, err := a.try(step)
	if denied == nil {
		return err
	}
	if _, bounded := ctx.Deadline(); !bounded || denied.Requested > denied.Capacity {
		a.refused()
		return err
	}
	a.waiting()
	for {
		for _, r := range a.ledger.relievers {
			r.Relieve(ctx, a, denied.Consumer, denied.Requested)
		}
		again := time.NewTimer(relieveAgain)
		select {
		case <-changed:
		case <-again.C:
		case <-ctx.Done():
			again.Stop()
			a.refused()
			denied.Waited = time.Since(start)
			return denied
		}
		again.Stop()
		if changed, denied, err = a.try(step); denied == nil {
			return err
		}
	}
}

// try makes the step once. When it is denied, changed is closed as soon as bytes come back.
func (a *Account) try(step func() error) (changed <-chan struct{}, denied *DeniedError, err error) {
	a.ledger.mu.Lock()
	defer a.ledger.mu.Unlock()
	defer a.proved()
	err = step()
	if !errors.As(err, &denied) {
		return nil, nil, err
	}
	if a.changed == nil {
		a.changed = make(chan struct{})
	}
	return a.changed, denied, err
}

func (a *Account) refused() {
	a.ledger.mu.Lock()
	defer a.ledger.mu.Unlock()
	a.denied++
}

func (a *Account) waiting() {
	a.ledger.mu.Lock()
	defer a.ledger.mu.Unlock()
	a.waits++
}
