package spill

// run is the goroutine that writes. It ends when the queue is closed and empty.
func (s *Store) run() {
	defer close(s.ended)
	for first := range s.queue {
		s.write(s.gather(first))
	}
}

// gather adds what waits to the first batch, up to GroupBytes.
func (s *Store) gather(first *Batch) []*Batch {
	group := []*Batch{first}
	for bytes := first.Bytes(); bytes < GroupBytes; {
		select {
		case b, ok := <-s.queue:
			if !ok {
				return group
			}
			group = append(group, b)
			bytes += b.Bytes()
		default:
			return group
		}
	}
	return group
}

// write brings a group to the disk and tells each owner. Batches fail one by one where the write fails, and file by file where the disk refuses
// at last: nobody knows then which of their pages it has.
func (s *Store) write(group []*Batch) {
	errs := make([]error, len(group))
	flushed := map[*file]error{}
	for i, b := range group {
		if errs[i] = s.append(b); errs[i] == nil {
			flushed[b.file] = nil
		}
	}
	for f := range flushed {
		if err := s.disk.flush(f.handle); err != nil {
			flushed[f] = &WriteError{f.path, err}
		}
	}
	for i, b := range group {
		if errs[i] == nil {
			errs[i] = flushed[b.file]
		}
		s.finish(b, errs[i])
	}
	for f, err := range flushed {
		if err != nil {
			s.abandon(f)
		}
	}
}

// append writes one batch into its stream's file, without waiting for the disk. It returns a *WriteError.
func (s *Store) append(b *Batch) error {
	s.mu.Lock()
	doomed, closed := b.state == Doomed, s.closed
	f := b.stream.active
	s.mu.Unlock()
	switch {
	case doomed:
		return ErrDropped
	case closed:
		return ErrClosed
	}
	bytes := b.Bytes()
	if f != nil && f.size > int64(len(b.stream.header)) && f.size+bytes+endBytes > s.config.FileBytes {
		s.seal(f, b.stream)
		f = nil
	}
	if f == nil {
		var err error
		if f, err = s.open(b); err != nil {
			return err
		}
	}
	padding := make([]byte, alignUp(b.trailer.batch)-b.trailer.batch)
	var err error
	if b.trailer.crc, err = checksum(b.message, b.memory, padding); err != nil {
		return &WriteError{f.path, err}
	}
	var end [TrailerBytes]byte
	b.trailer.encode(&end)
	offset := f.size
	if err := f.append(&s.disk, [][]byte{b.message, b.memory, padding, end[:]}, bytes); err != nil {
		return &WriteError{f.path, err}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	b.file, b.offset = f, offset
	f.refs++
	f.charged += bytes
	return nil
}

// open makes the next file of the batch's stream.
func (s *Store) open(b *Batch) (*file, error) {
	s.mu.Lock()
	s.number++
	path := s.folder.filePath(s.number)
	s.mu.Unlock()
	f, err := s.createFile(path, b.stream)
	if err != nil {
		return nil, &WriteError{path, err}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.files[f] = struct{}{}
	b.stream.active = f
	b.opened = true
	return f, nil
}

// seal ends a full file. That its last bytes cannot be written harms no batch: only other readers of the file would miss its end.
func (s *Store) seal(f *file, t *Stream) {
	_ = f.end(&s.disk)
	s.mu.Lock()
	t.active = nil
	dead := s.unref(f)
	s.mu.Unlock()
	s.delete(dead)
}

// abandon lets no further batch into a file that the disk has refused once.
func (s *Store) abandon(f *file) {
	s.mu.Lock()
	var dead *file
	if f.stream.active == f {
		f.stream.active = nil
		dead = s.unref(f)
	}
	s.mu.Unlock()
	s.delete(dead)
}

// finish tells the books and then the owner how a write ended.
func (s *Store) finish(b *Batch, err error) {
	s.mu.Lock()
	result, dead := s.settle(b, err)
	s.mu.Unlock()
	b.err = result
	b.message, b.memory = nil, nil
	b.end(result)
	close(b.done)
	s.delete(dead...)
}

// settle makes the move that ends a write; mu is held. It returns what the owner is told, and the files to delete.
func (s *Store) settle(b *Batch, err error) (error, []*file) {
	doomed := b.state == Doomed
	b.stream.pending--
	s.stats.Used -= b.reserved
	if b.opened {
		s.stats.Used += int64(len(b.stream.header)) + endBytes
	}
	if b.file != nil {
		s.stats.Used += b.Bytes()
	}
	switch {
	case err != nil:
		b.move(Failed)
		if !doomed {
			s.stats.WriteFailures++
		}
	default:
		b.move(Written)
		s.stats.BatchesWritten++
		s.stats.BytesWritten += uint64(b.Bytes())
		s.stats.Batches++
		s.stats.Bytes += b.Bytes()
		b.file.batches++
		b.file.live += b.Bytes()
	}
	var dead []*file
	switch {
	case b.state == Gone && err == nil:
		dead = s.forget(b)
	case err != nil && b.file != nil:
		dead = []*file{s.unref(b.file), b.stream.retire()}
	case err != nil:
		dead = []*file{b.stream.retire()}
	}
	if doomed {
		err = ErrDropped
	}
	return err, dead
}
