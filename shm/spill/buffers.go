package spill

import (
	"context"
	"math/bits"
	"sync"
)

// buffers is the heap that batches are read back into, at most limit bytes for all callers together, idle buffers included.
type buffers struct {
	limit int64

	mu    sync.Mutex
	total int64
	free  [][]byte
	// returned is closed and replaced when a buffer comes back.
	returned chan struct{}
}

func newBuffers(limit int64) *buffers { return &buffers{limit: limit, returned: make(chan struct{})} }

// take waits for n bytes, at most limit, or for the end of ctx. The caller gives the buffer to put.
func (p *buffers) take(ctx context.Context, n int64) ([]byte, error) {
	for {
		buffer, returned := p.try(n)
		if buffer != nil {
			return buffer[:n], nil
		}
		select {
		case <-returned:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// try returns a buffer, or what to wait for. Sizes are powers of two, so that buffers fit again.
func (p *buffers) try(n int64) ([]byte, <-chan struct{}) {
	size := min(max(Align, int64(1)<<bits.Len64(uint64(n-1))), p.limit)
	p.mu.Lock()
	defer p.mu.Unlock()
	for i, b := range p.free {
		if int64(cap(b)) == size {
			p.free = append(p.free[:i], p.free[i+1:]...)
			return b, nil
		}
	}
	for len(p.free) > 0 && p.total+size > p.limit {
		p.total -= int64(cap(p.free[0]))
		p.free = p.free[1:]
	}
	if p.total+size > p.limit {
		return nil, p.returned
	}
	p.total += size
	return make([]byte, size), nil
}

func (p *buffers) put(buffer []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.free = append(p.free, buffer[:cap(buffer)])
	close(p.returned)
	p.returned = make(chan struct{})
}

// clear lets idle buffers go.
func (p *buffers) clear() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, b := range p.free {
		p.total -= int64(cap(b))
	}
	p.free = nil
}

// bytes is what exists now.
func (p *buffers) bytes() int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.total
}
