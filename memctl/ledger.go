package memctl

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
)

// Ledger has the accounts of all TaskManager processes that have a session. Safe for concurrent use.
type Ledger struct {
	mu       sync.Mutex
	accounts map[string]*Account // by process id
	sessions map[uint32]*Account
}

// NewLedger is a ledger without accounts.
func NewLedger() *Ledger {
	return &Ledger{accounts: map[string]*Account{}, sessions: map[uint32]*Account{}}
}

// Account is the budget of one TaskManager process. All sizes are in bytes. Safe for concurrent use; it ends with the last
// session of its process.
type Account struct {
	ledger   *Ledger
	process  string
	name     string
	capacity uint64

	// Guarded by ledger.mu: the sum of held, the greatest it ever was, and what each session holds.
	reserved uint64
	peak     uint64
	held     map[uint32]uint64
	denied   uint64
}

// Join adds a session to the account of its process, which the first session opens. processID is what the client drew at
// random once for its process, budget the value of BudgetSetting in bytes, name free text for messages. Errors name the
// value that is wrong: an empty process id, a budget of zero, a budget unlike that of the process's other sessions, a
// session that joined before.
func (l *Ledger) Join(processID []byte, session uint32, budget uint64, name string) (*Account, error) {
	switch {
	case len(processID) == 0:
		return nil, errors.New("process_id is empty: a client draws it at random once for its process")
	case budget == 0:
		return nil, fmt.Errorf("the budget of %s is 0 bytes: set %s in the Flink configuration", name, BudgetSetting)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.sessions[session] != nil {
		return nil, fmt.Errorf("session %d has an account already", session)
	}
	a := l.accounts[string(processID)]
	if a == nil {
		a = &Account{ledger: l, process: string(processID), name: name, capacity: budget, held: map[uint32]uint64{}}
		l.accounts[a.process] = a
	} else if a.capacity != budget {
		return nil, fmt.Errorf("the budget of %s is %d bytes, but another session of the same process said %d: %s is one value "+
			"for the process", name, budget, a.capacity, BudgetSetting)
	}
	a.held[session] = 0
	l.sessions[session] = a
	return a, nil
}

// Leave ends a session and returns everything it still holds; it says how many bytes that was. The caller has freed the
// memory. Leaving twice is harmless.
func (l *Ledger) Leave(session uint32) uint64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	a := l.sessions[session]
	if a == nil {
		return 0
	}
	held := a.held[session]
	a.reserved -= held
	delete(a.held, session)
	delete(l.sessions, session)
	if len(a.held) == 0 {
		delete(l.accounts, a.process)
	}
	return held
}

// Reserve takes bytes from the budget for a session, before the memory is made. consumer says what for. Errors:
// *DeniedError, or that the session is not of this account or that bytes is 0.
func (a *Account) Reserve(session uint32, consumer string, bytes uint64) error {
	a.ledger.mu.Lock()
	defer a.ledger.mu.Unlock()
	held, ok := a.held[session]
	switch {
	case !ok:
		return fmt.Errorf("session %d is not of the account of %s", session, a.name)
	case bytes == 0:
		return fmt.Errorf("%q reserves 0 bytes", consumer)
	case bytes > a.capacity-a.reserved: // reserved never exceeds capacity
		a.denied++
		return &DeniedError{Process: a.name, Session: session, Consumer: consumer, Requested: bytes,
			Reserved: a.reserved, Capacity: a.capacity, Peak: a.peak}
	}
	a.held[session] = held + bytes
	a.reserved += bytes
	a.peak = max(a.peak, a.reserved)
	return nil
}

// Return gives bytes back in the name of the session that reserved them, after the memory is gone. Returning more than
// the session holds is a defect of the caller: the error says so and nothing is changed.
func (a *Account) Return(session uint32, bytes uint64) error {
	a.ledger.mu.Lock()
	defer a.ledger.mu.Unlock()
	held, ok := a.held[session]
	switch {
	case !ok:
		return fmt.Errorf("session %d is not of the account of %s", session, a.name)
	case bytes > held:
		return fmt.Errorf("session %d of %s returns %d bytes and holds %d", session, a.name, bytes, held)
	}
	a.held[session] = held - bytes
	a.reserved -= bytes
	return nil
}

// Usage is one account at one moment. Sizes are in bytes.
type Usage struct {
	Process  string
	Capacity uint64
	Reserved uint64
	Peak     uint64
	Denied   uint64
	// Held is what each session of the process holds.
	Held map[uint32]uint64
}

// Usage is the account's state.
func (a *Account) Usage() Usage {
	a.ledger.mu.Lock()
	defer a.ledger.mu.Unlock()
	return a.usage()
}

func (a *Account) usage() Usage {
	u := Usage{Process: a.name, Capacity: a.capacity, Reserved: a.reserved, Peak: a.peak, Denied: a.denied,
		Held: make(map[uint32]uint64, len(a.held))}
	for session, bytes := range a.held {
		u.Held[session] = bytes
	}
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
