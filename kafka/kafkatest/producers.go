package kafkatest

import (
	"context"

	"penstock.dev/penstock/kafka/producer"
)

// life watches that one state of a producer is used once.
type life struct {
	e    *Engine
	id   string
	over bool
}

// use is called with the engine's mu held; consume ends this state.
func (l *life) use(what string, consume bool) {
	if l.over {
		l.e.misuse("%s of %q after its end", what, l.id)
	}
	l.over = l.over || consume
}

// destroy ends the producer itself.
func (l *life) destroy(what string) {
	l.use(what, true)
	l.e.live--
	l.e.note("%s %s", what, l.id)
}

type ready struct {
	life
	who producer.Identity
}

func (r *ready) Identity() producer.Identity { return r.who }

func (r *ready) Begin() (producer.Open, error) {
	r.e.mu.Lock()
	defer r.e.mu.Unlock()
	r.use("begin", true)
	if err := ordered(r.e.faults.Begin, r.id); err != nil {
		r.e.live--
		r.e.note("begin %s failed", r.id)
		return nil, err
	}
	r.e.note("begin %s", r.id)
	return &open{producing{life: life{e: r.e, id: r.id}}, r.who}, nil
}

func (r *ready) Discard() {
	r.e.mu.Lock()
	defer r.e.mu.Unlock()
	r.destroy("discard")
}

// producing is what open and plain producers have in common.
type producing struct {
	life
	records []Record
}

func (p *producing) Produce(ctx context.Context, r *producer.Records) error {
	p.e.mu.Lock()
	gate := p.e.faults.ProduceGate
	p.e.mu.Unlock()
	if gate != nil {
		select {
		case <-gate:
		case <-ctx.Done():
		}
	}
	p.e.mu.Lock()
	defer p.e.mu.Unlock()
	p.use("produce", false)
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := ordered(p.e.faults.Produce, p.id); err != nil {
		return err
	}
	for i := range r.Len() {
		p.records = append(p.records, copied(r, i))
	}
	p.e.note("produce %s %d", p.id, r.Len())
	return nil
}

// copied owns its bytes, because the caller may reuse its own.
func copied(r *producer.Records, i int) Record {
	out := Record{Topic: r.Topic, Timestamp: producer.NoTimestamp, Value: field(r.Values, r.ValueOffsets, r.ValueNulls, i)}
	if r.KeyOffsets != nil {
		out.Key = field(r.Keys, r.KeyOffsets, r.KeyNulls, i)
	}
	if r.Timestamps != nil {
		out.Timestamp = r.Timestamps[i]
	}
	if h := r.Headers; h != nil {
		for k := h.Ends[i]; k < h.Ends[i+1]; k++ {
			key, value := h.Bytes[h.Offsets[2*k]:h.Offsets[2*k+1]], h.Bytes[h.Offsets[2*k+1]:h.Offsets[2*k+2]]
			out.Headers = append(out.Headers, Header{string(key), string(value)})
		}
	}
	return out
}

// field is a copy of bytes i, nil for null.
func field(all []byte, offsets []uint32, nulls []byte, i int) []byte {
	if len(nulls) != 0 && nulls[i/8]>>(i%8)&1 != 0 {
		return nil
	}
	return append([]byte{}, all[offsets[i]:offsets[i+1]]...)
}

func (p *producing) Counters() producer.Counters {
	p.e.mu.Lock()
	defer p.e.mu.Unlock()
	p.use("counters", false)
	n := int64(len(p.records))
	return producer.Counters{Accepted: n, Acknowledged: n}
}

func (p *producing) Err() error {
	p.e.mu.Lock()
	defer p.e.mu.Unlock()
	p.use("err", false)
	return ordered(p.e.faults.Async, p.id)
}

type open struct {
	producing
	who producer.Identity
}

func (o *open) Identity() producer.Identity { return o.who }

func (o *open) Seal(ctx context.Context, rows int64) (producer.Sealed, error) {
	o.e.mu.Lock()
	defer o.e.mu.Unlock()
	o.use("seal", true)
	err := ordered(o.e.faults.Seal, o.id)
	if err == nil {
		err = ctx.Err()
	}
	if err == nil && rows != int64(len(o.records)) {
		err = producer.Errorf(producer.FailEpoch, "%d rows handed over, %d accepted", rows, len(o.records))
	}
	if err != nil {
		o.e.live--
		o.e.note("seal %s failed", o.id)
		return nil, err
	}
	o.e.note("seal %s %d", o.id, rows)
	o.e.sealed[o.id] = &Transaction{Identity: o.who, Records: o.records}
	return &sealed{life{e: o.e, id: o.id}, o.who, rows}, nil
}

func (o *open) Abort(context.Context) error {
	o.e.mu.Lock()
	defer o.e.mu.Unlock()
	o.destroy("abort")
	return ordered(o.e.faults.Abort, o.id)
}

func (o *open) Discard() {
	o.e.mu.Lock()
	defer o.e.mu.Unlock()
	o.destroy("discard")
}

type sealed struct {
	life
	who  producer.Identity
	rows int64
}

func (s *sealed) Identity() producer.Identity { return s.who }

func (s *sealed) Rows() int64 { return s.rows }

func (s *sealed) Release() {
	s.e.mu.Lock()
	defer s.e.mu.Unlock()
	s.destroy("release")
}

type plain struct{ producing }

func (p *plain) Flush(ctx context.Context) error {
	p.e.mu.Lock()
	defer p.e.mu.Unlock()
	p.use("flush", false)
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := ordered(p.e.faults.Flush, ""); err != nil {
		return err
	}
	p.e.note("flush %d", len(p.records))
	return nil
}

func (p *plain) Close() {
	p.e.mu.Lock()
	defer p.e.mu.Unlock()
	p.destroy("close")
}
