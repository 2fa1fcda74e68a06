package lease

import (
	"net"
	"sync"
)

// Pass is the right to send for one initialisation. It is safe for concurrent use.
type Pass struct {
	lease *Lease
	life  int

	mu      sync.Mutex
	kept    bool
	over    error
	conns   map[*conn]struct{}
	carried int
}

// check is why nothing may leave, nil while it may. mu is held.
func (p *Pass) check() error {
	if p.over == nil && !p.kept {
		if err := p.lease.checkLife(p.life); err != nil {
			p.end(err)
		}
	}
	return p.over
}

// end forbids further writes. mu is held, and while it is held no write is under way.
func (p *Pass) end(cause error) {
	p.over = cause
	for c := range p.conns {
		c.drop()
	}
	clear(p.conns)
}

// Err is why nothing may leave, nil while it may.
func (p *Pass) Err() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.check()
}

// Keep ends the watch: the id is initialised, so that whatever comes late is refused by its epoch. It fails when the pass was over.
func (p *Pass) Keep() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := p.check(); err != nil {
		return err
	}
	p.kept = true
	for c := range p.conns {
		c.unlimited()
	}
	return nil
}

// End forbids every further write and drops the connections with what they have not sent yet. When it returns, no write of a pass that
// was not kept is under way.
func (p *Pass) End() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.over == nil {
		p.end(ErrEnded)
	}
}

// Carried is how many connections have used the pass so far.
func (p *Pass) Carried() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.carried
}

// Conn makes every write to c need the pass. It takes c over.
func (p *Pass) Conn(c net.Conn) (net.Conn, error) {
	guarded := &conn{Conn: c, pass: p}
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := p.check(); err != nil {
		guarded.drop()
		return nil, err
	}
	if !p.kept {
		guarded.limit(p.lease.length)
	}
	p.conns[guarded] = struct{}{}
	p.carried++
	return guarded, nil
}
