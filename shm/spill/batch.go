package spill

import (
	"context"
	"errors"
	"io"
)

// Batch is one batch that was given to the disk. Its methods may be called by any goroutine.
type Batch struct {
	stream   *Stream
	message  []byte
	memory   []byte // the caller's, until the end of the write
	end      func(error)
	reserved int64
	// done is closed after end has returned; err is set before.
	done chan struct{}
	err  error

	// What follows belongs to the goroutine that writes until done is closed, and is constant afterwards.
	trailer trailer
	file    *file
	offset  int64
	// opened tells that the file was made for this batch.
	opened bool

	// state is guarded by Store.mu.
	state State
}

// move makes a legal move; mu is held. An illegal one is a defect of this package.
func (b *Batch) move(m Move) {
	to, err := b.state.Next(m)
	if err != nil {
		panic(err)
	}
	b.state = to
}

// State is the batch's state at this moment.
func (b *Batch) State() State {
	b.stream.store.mu.Lock()
	defer b.stream.store.mu.Unlock()
	return b.state
}

// Bytes is what the batch occupies on the disk.
func (b *Batch) Bytes() int64 { return b.trailer.entryBytes() }

// Wait returns when the write has ended, with the error that ended was told, or with that of ctx.
func (b *Batch) Wait(ctx context.Context) error {
	select {
	case <-b.done:
		return b.err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Loaded is a batch that was read back.
type Loaded struct {
	// Bytes are those of the batch, valid until Release.
	Bytes  []byte
	batch  *Batch
	buffer []byte
}

// Claim waits for the write and for memory to read into, reads the batch back and checks it. It succeeds once; the caller releases what
// it gets. Errors: the end of ctx, which leaves the batch on the disk; *CorruptError and *ReadError, after which the batch is gone; the
// *WriteError or ErrDropped of its write; *IllegalMoveError when it was claimed or dropped before.
func (b *Batch) Claim(ctx context.Context) (*Loaded, error) {
	if err := b.Wait(ctx); err != nil {
		return nil, err
	}
	s := b.stream.store
	if _, err := b.State().Next(Claim); err != nil {
		return nil, err
	}
	// Memory first: whoever waits for it leaves the batch where it is.
	buffer, err := s.buffers.take(ctx, b.Bytes())
	if err != nil {
		return nil, err
	}
	if err := b.take(); err != nil {
		s.buffers.put(buffer)
		return nil, err
	}
	loaded := &Loaded{batch: b, buffer: buffer}
	if err := b.read(buffer); err != nil {
		s.count(func(t *Stats) { t.ReadFailures++ })
		loaded.Release()
		return nil, err
	}
	s.count(func(t *Stats) { t.BatchesRead++; t.BytesRead += uint64(b.Bytes()) })
	end := b.trailer.message + b.trailer.batch
	loaded.Bytes = buffer[b.trailer.message:end:end]
	return loaded, nil
}

// take makes the move Claim, which another goroutine may have made meanwhile.
func (b *Batch) take() error {
	b.stream.store.mu.Lock()
	defer b.stream.store.mu.Unlock()
	to, err := b.state.Next(Claim)
	b.state = to
	return err
}

// read fills buffer with the entry and compares it with what was written.
func (b *Batch) read(buffer []byte) error {
	_, err := b.file.handle.ReadAt(buffer, b.offset)
	if errors.Is(err, io.EOF) {
		return &CorruptError{b.file.path, b.trailer.entry, "the file ends before it"}
	}
	if err != nil {
		return &ReadError{b.file.path, b.trailer.entry, err}
	}
	if reason := b.trailer.check(buffer); reason != "" {
		return &CorruptError{b.file.path, b.trailer.entry, reason}
	}
	return nil
}

// Release gives the memory and the place on the disk back. Releasing twice is harmless; not safe for concurrent use.
func (l *Loaded) Release() {
	if l.buffer == nil {
		return
	}
	l.batch.stream.store.buffers.put(l.buffer)
	l.buffer, l.Bytes = nil, nil
	l.batch.leave(Release)
}

// Drop says that nobody will claim the batch. While it is being written that waits for the end of the write. Dropping what is gone, claimed or in
// memory again is harmless.
func (b *Batch) Drop() { b.leave(Drop) }

// leave makes a move that may be the batch's last one.
func (b *Batch) leave(m Move) {
	s := b.stream.store
	s.mu.Lock()
	to, err := b.state.Next(m)
	if err != nil || to != Gone {
		if err == nil {
			b.state = to
		}
		s.mu.Unlock()
		return
	}
	b.state = to
	dead := s.forget(b)
	s.mu.Unlock()
	s.delete(dead...)
}

// forget takes a batch that was on the disk out of the books; mu is held. The caller deletes the files that it returns.
func (s *Store) forget(b *Batch) []*file {
	s.stats.Batches--
	s.stats.Bytes -= b.Bytes()
	b.file.batches--
	b.file.live -= b.Bytes()
	if s.stats.Batches == 0 {
		s.buffers.clear()
	}
	return []*file{s.unref(b.file), b.stream.retire()}
}

func (s *Store) count(what func(*Stats)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	what(&s.stats)
}
