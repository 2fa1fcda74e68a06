package lease

import (
	"errors"
	"fmt"
	"sync"
	"time"
)

// Length is how long a process may stand still and still own its initialisations. A task that was declared dead needs longer than this to
// be started again, to write, and to reach a checkpoint.
const Length = 2 * time.Second

// renewals is how often a lease is renewed within its length.
const renewals = 8

// ErrEnded says that the owner has given the lease, or the initialisation, up.
var ErrEnded = errors.New("the initialisation was given up")

// Lease is the right of one writer to initialise ids. It is safe for concurrent use. End it.
type Lease struct {
	length time.Duration
	now    func() reading
	done   chan struct{}

	mu      sync.Mutex
	renewed reading
	over    error
	// restarts counts how often the lease was opened again; a pass is of one life of it.
	restarts int
}

// New makes a lease that lasts until the process stands still for longer than length, or until End.
func New(length time.Duration) *Lease {
	l := newLease(length, read)
	go l.renewing()
	return l
}

func newLease(length time.Duration, now func() reading) *Lease {
	return &Lease{length: length, now: now, renewed: now(), done: make(chan struct{})}
}

func (l *Lease) renewing() {
	tick := time.NewTicker(l.length / renewals)
	defer tick.Stop()
	for {
		select {
		case <-l.done:
			return
		case <-tick.C:
			l.renew()
		}
	}
}

func (l *Lease) renew() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.check() == nil {
		l.renewed = l.now()
	}
}

// check is the reason why the lease is over, nil while it is not. mu is held.
func (l *Lease) check() error {
	if l.over != nil {
		return l.over
	}
	if stood := l.now().since(l.renewed); stood > l.length {
		l.over = fmt.Errorf("penstockd stood still for %v, in which another attempt may have taken over; nothing was sent since",
			stood.Round(100*time.Millisecond))
	}
	return l.over
}

// Err is why the lease is over, nil while it is not.
func (l *Lease) Err() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.check()
}

// Restart opens a lease again that is over because the process stood still; passes taken before stay closed. See the package comment
// for when that is right.
func (l *Lease) Restart() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.check() != nil && !errors.Is(l.over, ErrEnded) {
		l.over = nil
		l.restarts++
	}
	l.renewed = l.now()
}

// End ends the lease for good.
func (l *Lease) End() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !errors.Is(l.over, ErrEnded) {
		l.over = ErrEnded
		close(l.done)
	}
}

// Pass is for one initialisation; it is closed already when the lease is over. End it.
func (l *Lease) Pass() *Pass {
	l.mu.Lock()
	defer l.mu.Unlock()
	return &Pass{lease: l, life: l.restarts, over: l.check(), conns: map[*conn]struct{}{}}
}

// checkLife is check for a pass that was taken after so many restarts.
func (l *Lease) checkLife(restarts int) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.check(); err != nil || restarts == l.restarts {
		return err
	}
	return fmt.Errorf("%w: penstockd stood still for too long since", ErrEnded)
}
