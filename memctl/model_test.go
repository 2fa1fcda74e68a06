package memctl

import (
	"context"
	"errors"
	"flag"
	"math/rand/v2"
	"testing"
)

// operations is for longer runs: go test ./memctl -run TestAgainstModel -args -operations 100000000
var operations = flag.Int("operations", defaultOperations, "random operations of TestAgainstModel")

// model is the ledger as simply as it can be said: who holds what, in a table.
type model struct {
	in      [modelOwners]bool
	minimum [modelOwners]uint64
	held    [modelOwners]Amounts
	peak    uint64
	denied  uint64
}

const (
	modelOwners   = 6
	modelCapacity = 1000
)

func (m *model) reserved() (sum uint64) {
	for _, h := range m.held {
		sum += h.Sum()
	}
	return sum
}

// keptFor is what owners other than `but` have not taken of their minimum.
func (m *model) keptFor(but int) (sum uint64) {
	for i := range m.in {
		if held := m.held[i].Sum(); m.in[i] && i != but && held < m.minimum[i] {
			sum += m.minimum[i] - held
		}
	}
	return sum
}

// player makes the same random operations on a ledger and on the model. Owner 0 is the session, the others are its writers.
type player struct {
	t      *testing.T
	r      *rand.Rand
	ledger *Ledger
	shares [modelOwners]*Share
	model  model
}

// TestAgainstModel makes a million random operations, legal and not, and compares every answer and every sum.
func TestAgainstModel(t *testing.T) {
	const seed = 1
	p := &player{t: t, r: rand.New(rand.NewPCG(seed, 2)), ledger: NewLedger()}
	p.join()
	for i := range *operations {
		p.operation()
		p.compare(i)
		if t.Failed() {
			t.Fatalf("seed %d, operation %d", seed, i)
		}
	}
	if p.model.denied == 0 {
		t.Error("nothing was ever denied")
	}
}

func (p *player) operation() {
	who := p.r.IntN(modelOwners)
	purpose := Purpose(p.r.IntN(int(purposeCount)))
	bytes := 1 + p.r.Uint64N(300)
	switch op := p.r.IntN(100); {
	case !p.model.in[who]:
		p.enter(who, p.r.Uint64N(300))
	case op < 50:
		p.reserve(who, purpose, bytes)
	case op < 85:
		if held := p.model.held[who][purpose]; held > 0 && op < 80 {
			bytes = 1 + p.r.Uint64N(held)
		}
		p.giveBack(who, purpose, bytes)
	case op < 95:
		p.leave(who)
	default:
		if err := p.shares[who].Reserve(purpose, 0); err == nil {
			p.t.Error("0 bytes were reserved")
		}
	}
}

func (p *player) join() {
	var err error
	if p.shares[0], err = p.ledger.Join([]byte("p"), 1, modelCapacity, 0, "tm"); err != nil {
		p.t.Fatal(err)
	}
	p.model.in[0], p.model.minimum[0] = true, 0
}

func (p *player) enter(who int, minimum uint64) {
	if who == 0 {
		p.join()
		return
	}
	fits := p.model.reserved()+p.model.keptFor(-1)+minimum <= modelCapacity
	share, err := p.shares[0].Account().Enter(context.Background(), writerOf(1, uint64(who)), EncodeBuffer, minimum)
	p.judge("enter", fits, err)
	if err == nil {
		p.shares[who] = share
		p.model.in[who], p.model.minimum[who] = true, minimum
	}
}

func (p *player) reserve(who int, purpose Purpose, bytes uint64) {
	fits := p.model.reserved()+p.model.keptFor(who)+bytes <= modelCapacity
	err := p.shares[who].Reserve(purpose, bytes)
	p.judge("reserve", fits, err)
	if err == nil {
		p.model.held[who][purpose] += bytes
		p.model.peak = max(p.model.peak, p.model.reserved())
	}
}

// judge holds the rule: what fits is granted, what does not fit is denied.
func (p *player) judge(what string, fits bool, err error) {
	denied := errors.As(err, new(*DeniedError))
	if fits != (err == nil) || denied == fits {
		p.t.Errorf("%s: fits %v, answer %v", what, fits, err)
	}
	if denied && what == "reserve" {
		p.model.denied++
	}
}

func (p *player) giveBack(who int, purpose Purpose, bytes uint64) {
	holds := bytes <= p.model.held[who][purpose]
	if err := p.shares[who].Return(purpose, bytes); holds != (err == nil) {
		p.t.Errorf("returns %d of %d: %v", bytes, p.model.held[who][purpose], err)
	}
	if holds {
		p.model.held[who][purpose] -= bytes
	}
}

func (p *player) leave(who int) {
	if got, want := p.shares[who].Leave(), p.model.held[who].Sum(); got != want {
		p.t.Errorf("left with %d, held %d", got, want)
	}
	if p.shares[who].Leave() != 0 {
		p.t.Error("left twice")
	}
	p.model.in[who], p.model.minimum[who], p.model.held[who] = false, 0, Amounts{}
	if len(p.ledger.accounts) == 0 { // the account ended with its last owner
		p.model.peak = 0
		p.join()
	}
}

func (p *player) compare(i int) {
	// Read without the lock: this goroutine is the only one.
	b := p.shares[0].account.books
	for who, share := range p.shares {
		if (i+who)%modelOwners == 0 && p.model.in[who] && b.owners[share.owner].held != p.model.held[who] {
			p.t.Errorf("owner %d holds %v, model %v", who, share.Held(), p.model.held[who])
		}
	}
	if b.sum != p.model.reserved() || b.promised != p.model.keptFor(-1) || b.peak != p.model.peak {
		p.t.Errorf("reserved %d, promised %d, peak %d; model %d, %d, %d", b.sum, b.promised, b.peak, p.model.reserved(),
			p.model.keptFor(-1), p.model.peak)
	}
	if i%1000 == 0 {
		if err := b.prove(); err != nil {
			p.t.Error(err)
		}
	}
}
