package memctl

import "fmt"

// books are the state of one account. Each method is one step: it depends on nothing but the state and its arguments, and either
// makes the whole change or none. Sizes are in bytes.
//
// Held plus promised never exceeds capacity. promised is the sum of what the owners have not taken of their minimum.
type books struct {
	process  string
	capacity uint64

	held     Amounts
	sum      uint64
	promised uint64
	peak     uint64
	owners   map[Owner]*holding
	// steps counts for proveSome.
	steps uint64
}

// holding is what one owner has.
type holding struct {
	minimum uint64
	held    Amounts
	sum     uint64
}

// unfilled is what the owner has not taken of its minimum.
func (h *holding) unfilled() uint64 {
	if h.sum >= h.minimum {
		return 0
	}
	return h.minimum - h.sum
}

func newBooks(process string, capacity uint64) *books {
	return &books{process: process, capacity: capacity, owners: map[Owner]*holding{}}
}

// enter lets an owner in, with a minimum that is kept for it from now on.
func (b *books) enter(o Owner, minimum uint64) error {
	if b.owners[o] != nil {
		return fmt.Errorf("%v has an account already", o)
	}
	if minimum > b.capacity-b.sum-b.promised {
		return b.deny(o, Lease, minimum, b.promised)
	}
	b.owners[o] = &holding{minimum: minimum}
	b.promised += minimum
	return nil
}

// reserve takes bytes for an owner: first from its minimum, then from what floats.
func (b *books) reserve(o Owner, p Purpose, bytes uint64) error {
	h := b.owners[o]
	switch {
	case h == nil:
		return fmt.Errorf("%v, account of %s: %w", o, b.process, ErrEnded)
	case p >= purposeCount:
		return fmt.Errorf("%v reserves for purpose %d, which is unknown", o, p)
	case bytes == 0:
		return fmt.Errorf("%v reserves 0 bytes (%v)", o, p)
	}
	others := b.promised - h.unfilled()
	if bytes > b.capacity-b.sum-others {
		return b.deny(o, p, bytes, others)
	}
	h.sum += bytes
	h.held[p] += bytes
	b.sum += bytes
	b.held[p] += bytes
	b.promised = others + h.unfilled()
	b.peak = max(b.peak, b.sum)
	return nil
}

// giveBack returns bytes in the name of the owner that reserved them.
func (b *books) giveBack(o Owner, p Purpose, bytes uint64) error {
	h := b.owners[o]
	switch {
	case h == nil:
		return fmt.Errorf("%v, account of %s: %w", o, b.process, ErrEnded)
	case p >= purposeCount || bytes > h.held[p]:
		return fmt.Errorf("%v returns %d bytes (%v) and holds %d", o, bytes, p, h.heldFor(p))
	}
	others := b.promised - h.unfilled()
	h.sum -= bytes
	h.held[p] -= bytes
	b.sum -= bytes
	b.held[p] -= bytes
	b.promised = others + h.unfilled()
	return nil
}

func (h *holding) heldFor(p Purpose) uint64 {
	if p >= purposeCount {
		return 0
	}
	return h.held[p]
}

// leave ends an owner and returns all that it holds and its minimum; a second time it does nothing.
func (b *books) leave(o Owner) uint64 {
	h := b.owners[o]
	if h == nil {
		return 0
	}
	b.promised -= h.unfilled()
	b.sum -= h.sum
	for p, bytes := range h.held {
		b.held[p] -= bytes
	}
	delete(b.owners, o)
	return h.sum
}

func (b *books) deny(o Owner, p Purpose, bytes, others uint64) *DeniedError {
	return &DeniedError{Process: b.process, Consumer: o, Purpose: p, Requested: bytes, Reserved: b.sum, By: b.held, Promised: others,
		Capacity: b.capacity, Peak: b.peak, Setting: BudgetSetting}
}

// fullProof is how many steps pass between two full proofs.
const fullProof = 64

// proveSome is prove, but most times only of what it takes no loop to see.
func (b *books) proveSome() error {
	if b.steps++; b.steps%fullProof == 0 {
		return b.prove()
	}
	if b.held.Sum() != b.sum || b.sum > b.capacity || b.promised > b.capacity-b.sum || b.peak < b.sum {
		return b.prove()
	}
	return nil
}

// prove recomputes every sum from the owners and returns what does not agree.
func (b *books) prove() error {
	var held Amounts
	var promised uint64
	for o, h := range b.owners {
		if h.sum != h.held.Sum() {
			return fmt.Errorf("%v holds %d, its purposes together %d", o, h.sum, h.held.Sum())
		}
		for p, bytes := range h.held {
			held[p] += bytes
		}
		promised += h.unfilled()
	}
	switch {
	case held != b.held || held.Sum() != b.sum:
		return fmt.Errorf("the owners hold %v, the books say %v, %d", held, b.held, b.sum)
	case promised != b.promised:
		return fmt.Errorf("%d promised, the books say %d", promised, b.promised)
	case b.sum > b.capacity || b.promised > b.capacity-b.sum:
		return fmt.Errorf("%d held and %d promised of %d", b.sum, b.promised, b.capacity)
	case b.peak < b.sum || b.peak > b.capacity:
		return fmt.Errorf("peak %d, held %d, capacity %d", b.peak, b.sum, b.capacity)
	}
	return nil
}
