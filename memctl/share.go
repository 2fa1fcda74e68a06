package memctl

import (
	"context"
	"errors"
	"fmt"
)

// ErrEnded says that an owner has left its account, or that the account ended with its last owner: the session is over.
var ErrEnded = errors.New("it has ended")

// Share is one owner's part of an account. It ends with Leave. Safe for concurrent use.
type Share struct {
	account *Account
	owner   Owner
}

// Account is the account that the share is of.
func (s *Share) Account() *Account { return s.account }

// Owner is in whose name the share reserves.
func (s *Share) Owner() Owner { return s.owner }

// Enter lets another owner of the same process in, with a minimum in bytes that is kept for it; purpose is what most of it will be
// used for, for the denial. A minimum that does not fit waits as ReserveWithin does. Errors: *DeniedError, or that the owner is in
// already.
func (a *Account) Enter(ctx context.Context, owner Owner, purpose Purpose, minimum uint64) (*Share, error) {
	if owner.Writer == 0 {
		return nil, fmt.Errorf("%v: only Join lets a session in", owner)
	}
	err := a.within(ctx, func() error {
		if now := a.ledger.accounts[a.process]; now != a {
			return fmt.Errorf("%v, account of %s: %w", owner, a.books.process, ErrEnded)
		}
		err := a.books.enter(owner, minimum)
		if denied, ok := err.(*DeniedError); ok {
			denied.Purpose = purpose
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return &Share{a, owner}, nil
}

// Reserve takes bytes, before the memory is made. It never waits. Errors: *DeniedError, or that the owner has left or that bytes
// is 0.
func (s *Share) Reserve(p Purpose, bytes uint64) error {
	_, denied, err := s.account.try(func() error { return s.account.books.reserve(s.owner, p, bytes) })
	if denied != nil {
		s.account.refused()
	}
	return err
}

// ReserveWithin is Reserve that, where bytes do not fit, asks the relievers and waits for returns until ctx ends; without a deadline in
// ctx it does not wait. More than the capacity is denied at once.
func (s *Share) ReserveWithin(ctx context.Context, p Purpose, bytes uint64) error {
	return s.account.within(ctx, func() error { return s.account.books.reserve(s.owner, p, bytes) })
}

// Return gives bytes back after the memory is gone. Returning more than the owner holds for this purpose is a defect of the
// caller: the error says so and nothing is changed.
func (s *Share) Return(p Purpose, bytes uint64) error {
	s.account.ledger.mu.Lock()
	defer s.account.ledger.mu.Unlock()
	defer s.account.returned()
	return s.account.books.giveBack(s.owner, p, bytes)
}

// Leave ends the owner and returns everything that it still holds; it says how many bytes that was. The memory is gone when it is
// called. Leaving twice is harmless.
func (s *Share) Leave() uint64 {
	s.account.ledger.mu.Lock()
	defer s.account.ledger.mu.Unlock()
	defer s.account.returned()
	return s.account.books.leave(s.owner)
}

// Held is what the owner holds, by purpose.
func (s *Share) Held() Amounts {
	s.account.ledger.mu.Lock()
	defer s.account.ledger.mu.Unlock()
	if h := s.account.books.owners[s.owner]; h != nil {
		return h.held
	}
	return Amounts{}
}
