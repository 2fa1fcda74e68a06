package spill

// Stream is the files of one writer, all of one schema. Its methods are called by any goroutine; batches are read back in the order in
// which they were given, by whoever claims them.
type Stream struct {
	store  *Store
	owner  uint32
	header []byte

	// Guarded by Store.mu.
	closed bool
	active *file
	// pending batches are queued or being written: the active file must stay for them.
	pending int
	entries uint64
}

// NewStream makes a stream of batches of one schema; header is the Arrow message that says so, its length a multiple of Align. owner is the
// session, for the status. No file is made before the first batch.
func (s *Store) NewStream(owner uint32, header []byte) *Stream {
	return &Stream{store: s, owner: owner, header: header}
}

// Spill gives a batch to the disk: the Arrow message that names a body of BodyBytes(len(batch)) bytes, and the batch itself, which must
// stay as it is until ended is called. ended is called once, on the goroutine that writes, and must not block: with nil the disk has the batch;
// with ErrDropped it was dropped meanwhile; with a *WriteError or ErrClosed it is PARKED again and unharmed. In each case its memory is no
// longer read.
//
// Errors of Spill itself change nothing, and ended is not called: *QuotaError, *TooLargeError, ErrBusy, ErrClosed.
func (t *Stream) Spill(message, batch []byte, ended func(error)) (*Batch, error) {
	s := t.store
	b := &Batch{stream: t, message: message, memory: batch, end: ended, done: make(chan struct{})}
	b.trailer = trailer{daemon: s.config.Daemon, message: int64(len(message)), batch: int64(len(batch))}
	bytes := b.trailer.entryBytes()
	if bytes > ReadBytes {
		return nil, &TooLargeError{bytes, ReadBytes}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	// A new file may be needed; what was not is given back after the write.
	b.reserved = bytes + int64(len(t.header)) + endBytes
	switch {
	case s.closed || t.closed:
		return nil, ErrClosed
	case b.reserved > s.config.Quota-s.stats.Used:
		s.stats.Refused++
		return nil, &QuotaError{s.config.Directory, b.reserved, s.stats.Used, s.config.Quota}
	}
	t.entries++
	b.trailer.entry = t.entries
	select {
	case s.queue <- b:
	default:
		s.stats.Refused++
		return nil, ErrBusy
	}
	b.move(Spill)
	t.pending++
	s.stats.Used += b.reserved
	return b, nil
}

// Close lets the stream's file go as soon as its last batch has gone; the caller drops what it does not claim.
func (t *Stream) Close() {
	t.store.mu.Lock()
	t.closed = true
	idle := t.retire()
	t.store.mu.Unlock()
	t.store.delete(idle)
}

// retire gives the active file up when nothing is in it or on its way into it; mu is held. The caller deletes what it returns.
func (t *Stream) retire() *file {
	if t.active == nil || t.pending > 0 || t.active.refs > 1 {
		return nil
	}
	f := t.active
	t.active = nil
	return t.store.unref(f)
}
