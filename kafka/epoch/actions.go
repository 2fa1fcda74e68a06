package epoch

import (
	"context"
	"time"

	"penstock.dev/penstock/kafka/producer"
)

// run carries out actions and what follows from them, under mu. An Abort has to wait for the network, so that run only
// takes the producer away; the caller runs the returned function without mu. Flush and Seal are done by their callers.
func (w *Writer) run(actions []Action) (end func(context.Context) error) {
	end = func(context.Context) error { return nil }
	for len(actions) > 0 {
		a := actions[0]
		actions = actions[1:]
		switch a.Kind {
		case StartInit, FillGaps:
			w.inits.Add(1)
			go w.initialise(a)
		case OpenPlain:
			actions = append(actions, w.openPlain()...)
		case Begin:
			actions = append(actions, w.begin(a.ID)...)
		case Discard:
			w.discard(a.ID)
		case Release:
			w.sealed.Release()
			w.sealed = nil
		case Abort:
			end = w.abort()
		case Flush, Seal, Reply:
		}
	}
	close(w.changed)
	w.changed = make(chan struct{})
	return end
}

// initialise runs on a goroutine of its own and reports to the machine.
func (w *Writer) initialise(a Action) {
	defer w.inits.Done()
	ctx, cancel := context.WithTimeout(w.initCtx, w.o.InitTimeout)
	defer cancel()
	w.awaitCalm(ctx, a)
	start := time.Now()
	made, err := w.send(ctx, a)
	took := time.Since(start)
	warmUp := w.initialised(a, made, took, err)
	if warmUp && w.o.Warmed != nil {
		w.o.Warmed(a.ID, took, err)
	}
}

// awaitCalm holds a warm-up back for a moment. It is asked for right after a seal, when other subtasks are still sealing for the same
// barrier, and a new producer would take the processor from their flushes. It waits no longer when an epoch wants to begin.
func (w *Writer) awaitCalm(ctx context.Context, a Action) {
	w.mu.Lock()
	defer w.mu.Unlock()
	calm := time.NewTimer(w.calm)
	defer calm.Stop()
	for a.Kind == StartInit && w.calm > 0 && (w.m.state == Open || w.m.state == Sealing || w.m.state == Sealed) {
		changed := w.changed
		w.mu.Unlock()
		select {
		case <-changed:
			w.mu.Lock()
		case <-calm.C:
			w.mu.Lock()
			return
		case <-ctx.Done():
			w.mu.Lock()
			return
		}
	}
}

// send talks to the broker, once the ids are this writer's.
func (w *Writer) send(ctx context.Context, a Action) (producer.Ready, error) {
	ids := a.IDs
	if a.Kind == StartInit {
		ids = []string{a.ID}
	}
	for _, id := range ids {
		if err := w.claims.claim(ctx, id); err != nil {
			return nil, err
		}
	}
	if a.Kind == FillGaps {
		return nil, w.o.Engine.Fill(ctx, w.o.Config, ids)
	}
	return w.o.Engine.Init(ctx, w.o.Config, a.ID)
}

// initialised tells the machine; the result is whether this was a warm-up, as opposed to a Begin waiting for it.
func (w *Writer) initialised(a Action, made producer.Ready, took time.Duration, err error) (warmUp bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	warmUp = a.Kind == StartInit && !w.m.busyForBegin
	var actions []Action
	var fault error
	if err != nil {
		actions, fault = w.m.InitFailed(a.ID, err)
	} else {
		if a.Kind == StartInit {
			w.ready[a.ID] = readyProducer{made, took}
		}
		actions, fault = w.m.InitDone(a.ID)
	}
	w.run(actions)
	if fault != nil {
		w.run(w.m.Fail(fault))
	}
	return warmUp
}

func (w *Writer) begin(id string) []Action {
	r := w.ready[id]
	delete(w.ready, id)
	open, err := r.Begin()
	if err != nil {
		return w.m.Fail(err)
	}
	w.open, w.identity, w.initTime = open, open.Identity(), r.took
	return w.begunNow()
}

func (w *Writer) openPlain() []Action {
	plain, err := w.o.Engine.OpenPlain(w.initCtx, w.o.Config)
	if err != nil {
		return w.m.Fail(err)
	}
	w.plain = plain
	return w.begunNow()
}

func (w *Writer) begunNow() []Action {
	w.begun, w.written = time.Now(), time.Time{}
	if w.lasted > 0 {
		// Checkpoints are periodic.
		w.o.Config.Pace.Expect(w.begun.Add(w.lasted))
	}
	actions, err := w.m.Begun()
	if err != nil {
		return w.m.Fail(err)
	}
	return actions
}

// discard destroys a warm producer, or the open one of an epoch without rows.
func (w *Writer) discard(id string) {
	if r, ok := w.ready[id]; ok {
		delete(w.ready, id)
		r.Discard()
		return
	}
	if w.open != nil {
		w.open.Discard()
		w.open = nil
	}
}

func (w *Writer) abort() func(context.Context) error {
	open, plain := w.open, w.plain
	w.open, w.plain = nil, nil
	return func(ctx context.Context) error {
		if plain != nil {
			plain.Close()
			return nil
		}
		return open.Abort(ctx)
	}
}
