package memctl

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
)

// Ledger has the accounts of all TaskManager processes that hold something or have a session. Safe for concurrent use.
type Ledger struct {
	mu       sync.Mutex
	accounts map[string]*Account // by process id
	// relievers are asked in this order; not changed after the first Join.
	relievers []Reliever
}

// NewLedger is a ledger without accounts. The relievers are asked, in this order, when a reservation does not fit.
func NewLedger(relievers ...Reliever) *Ledger {
	return &Ledger{accounts: map[string]*Account{}, relievers: relievers}
}

// AddReliever adds one that is asked after those before it. Call it before the first Join.
func (l *Ledger) AddReliever(r Reliever) { l.relievers = append(l.relievers, r) }

// Account is the budget of one TaskManager process. It begins with the process's first session and ends with the last owner of the
// process. Sizes are in bytes. Safe for concurrent use.
type Account struct {
	ledger  *Ledger
	process string

	// books and what follows are guarded by ledger.mu.
	books *books
	// changed is closed, and set to nil, when bytes come back; nil while nobody waits.
	changed chan struct{}
	// denied counts refusals, waits the reservations that had to wait.
	denied, waits uint64
}

// Join adds a session to the account of its process, which the first session opens. processID is what the client drew at
// random once for its process, capacity the value of BudgetSetting, minimum what is kept for the session's leases; a minimum
// that does not fit now is not kept, because a broken session may hold it for another moment. name is free text for messages.
// Errors name the value that is wrong: an empty process id, a capacity of zero, one unlike that of the process's other sessions,
// a session that joined before.
func (l *Ledger) Join(processID []byte, session uint32, capacity, minimum uint64, name string) (*Share, error) {
	switch {
	case len(processID) == 0:
		return nil, errors.New("process_id is empty: a client draws it at random once for its process")
	case capacity == 0:
		return nil, fmt.Errorf("the budget of %s is 0 bytes: set %s in the Flink configuration", name, BudgetSetting)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	a := l.accounts[string(processID)]
	if a == nil {
		a = &Account{ledger: l, process: string(processID), books: newBooks(name, capacity)}
	} else if a.books.capacity != capacity {
		return nil, fmt.Errorf("the budget of %s is %d bytes, but another session of the same process said %d: %s is one value "+
			"for the process", name, capacity, a.books.capacity, BudgetSetting)
	}
	owner := Owner{Session: session}
	if minimum > capacity-a.books.sum-a.books.promised {
		minimum = 0
	}
	if err := a.books.enter(owner, minimum); err != nil {
		return nil, err
	}
	l.accounts[a.process] = a
	a.proved()
	return &Share{a, owner}, nil
}

// proved panics when a step has left wrong books: the daemon must not go on lending by them. Only with the tag invariants.
func (a *Account) proved() {
	if proveSteps {
		if err := a.books.proveSome(); err != nil {
			panic(fmt.Sprintf("memctl: account of %s: %v", a.books.process, err))
		}
	}
}

// returned wakes who waits, and forgets the account with its last owner.
func (a *Account) returned() {
	a.proved()
	if a.changed != nil {
		close(a.changed)
		a.changed = nil
	}
	if len(a.books.owners) == 0 && a.ledger.accounts[a.process] == a {
		delete(a.ledger.accounts, a.process)
	}
}

// Usage is one account at one moment. Sizes are in bytes.
type Usage struct {
	Process  string
	Capacity uint64
	Reserved uint64
	// By is Reserved by purpose.
	By Amounts
	// Promised is what owners may still take of their minimum; Available is what floats freely: Capacity - Reserved - Promised.
	Promised, Available uint64
	Peak                uint64
	// Denied counts refusals, Waits the reservations that had to wait, whatever came of it.
	Denied, Waits uint64
	// Owners are all that are in, by session and writer.
	Owners []OwnerUsage
}

// OwnerUsage is what one owner holds.
type OwnerUsage struct {
	Owner   Owner
	Minimum uint64
	Held    Amounts
}

// Usage is the account's state.
func (a *Account) Usage() Usage {
	a.ledger.mu.Lock()
	defer a.ledger.mu.Unlock()
	return a.usage()
}

func (a *Account) usage() Usage {
	b := a.books
	u := Usage{Process: b.process, Capacity: b.capacity, Reserved: b.sum, By: b.held, Promised: b.promised,
		Available: b.capacity - b.sum - b.promised, Peak: b.peak, Denied: a.denied, Waits: a.waits,
		Owners: make([]OwnerUsage, 0, len(b.owners))}
	for owner, h := range b.owners {
		u.Owners = append(u.Owners, OwnerUsage{owner, h.minimum, h.held})
	}
	slices.SortFunc(u.Owners, func(x, y OwnerUsage) int {
		if x.Owner.Session != y.Owner.Session {
			return int(int64(x.Owner.Session) - int64(y.Owner.Session))
		}
		return int(int64(x.Owner.Writer) - int64(y.Owner.Writer))
	})
	return u
}

// Usage lists all accounts by name.
func (l *Ledger) Usage() []Usage {
	l.mu.Lock()
	defer l.mu.Unlock()
	all := make([]Usage, 0, len(l.accounts))
	for _, a := range l.accounts {
		all = append(all, a.usage())
	}
	slices.SortFunc(all, func(x, y Usage) int { return strings.Compare(x.Process, y.Process) })
	return all
}
