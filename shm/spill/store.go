package spill

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

const (
	// GroupBytes is the most that is written before the disk is asked whether it has it.
	GroupBytes = 8 << 20
	// ReadBytes is the heap that all reads take together, and so the largest batch.
	ReadBytes = 8 << 20
	// queueBatches bounds what waits for the disk; each pins shared memory.
	queueBatches = 256

	minFileBytes = 1 << 20
	maxFileBytes = 64 << 20
)

// Config sizes a store.
type Config struct {
	// Directory is made when it is missing, with mode 0700. Several daemons may share it.
	Directory string
	// Daemon is the id of this daemon's life; it stands in the names of the files.
	Daemon uint64
	// Quota bounds the bytes of all files together.
	Quota int64
	// FileBytes is the size from which on a file gets no further batch; 0: an eighth of the quota, from 1 to 64 MiB.
	FileBytes int64
}

// Store is the disk of one daemon. Safe for concurrent use.
type Store struct {
	config  Config
	folder  *folder
	disk    disk
	buffers *buffers
	// ended is closed when the goroutine that writes has ended.
	ended chan struct{}

	// mu guards what follows, and the batches' and files' fields that say so. It is never held during I/O.
	mu     sync.Mutex
	closed bool
	// emptied tells that Close has deleted the files.
	emptied bool
	queue   chan *Batch
	number  uint64 // of the last file
	files   map[*file]struct{}
	// leftovers could not be deleted; it is tried again with the next file.
	leftovers []*file
	stats     Stats
}

// Open prepares the folder, deletes what dead daemons have left in it, and starts the goroutine that writes. Close the store. Errors
// name the setting.
func Open(c Config) (*Store, error) {
	if c.Quota < minFileBytes {
		return nil, fmt.Errorf("spill.quota = %d: use at least %d bytes", c.Quota, minFileBytes)
	}
	if c.FileBytes == 0 {
		c.FileBytes = min(max(c.Quota/8, minFileBytes), maxFileBytes)
	}
	folder, err := openFolder(c.Directory, c.Daemon)
	if err != nil {
		return nil, err
	}
	s := &Store{config: c, folder: folder, disk: kernel, buffers: newBuffers(ReadBytes), ended: make(chan struct{}),
		queue: make(chan *Batch, queueBatches), files: map[*file]struct{}{}, stats: Stats{Quota: c.Quota}}
	go s.run()
	return s, nil
}

// Stats is the store at one moment, and its totals since it was opened. Sizes are in bytes.
type Stats struct {
	Quota int64
	// Used is what counts against the quota: files and writes under way.
	Used int64
	// Files exist now; Batches are on the disk now, and Bytes are theirs.
	Files   int
	Batches int
	Bytes   int64
	// ReadHeap is the heap that reads take now.
	ReadHeap int64

	BatchesWritten, BatchesRead uint64
	BytesWritten, BytesRead     uint64
	// WriteFailures counts batches that the disk refused, Refused those beyond the quota or the queue, ReadFailures those that were lost.
	WriteFailures, Refused, ReadFailures uint64
}

// Stats reads the ledger.
func (s *Store) Stats() Stats {
	heap := s.buffers.bytes()
	s.mu.Lock()
	defer s.mu.Unlock()
	stats := s.stats
	stats.Files, stats.ReadHeap = len(s.files), heap
	return stats
}

// FileInfo is one file, for the status. Sizes are in bytes.
type FileInfo struct {
	Name string
	// Owner is the session whose batches it has.
	Owner uint32
	// Bytes count against the quota; Live are those of batches that nobody has claimed yet.
	Bytes, Live int64
	Batches     int
}

// Files lists the files by name.
func (s *Store) Files() []FileInfo {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := make([]FileInfo, 0, len(s.files))
	for f := range s.files {
		list = append(list, FileInfo{filepath.Base(f.path), f.stream.owner, f.charged, f.live, f.batches})
	}
	slices.SortFunc(list, func(x, y FileInfo) int { return strings.Compare(x.Name, y.Name) })
	return list
}

// Close ends the store: what is being written is waited for as long as ctx allows, and every file is deleted. Batches that are still
// on the disk are lost. A Close that did not end in time may be tried again; another one is harmless.
func (s *Store) Close(ctx context.Context) error {
	s.mu.Lock()
	if !s.closed {
		s.closed = true
		close(s.queue)
	}
	s.mu.Unlock()
	select {
	case <-s.ended:
	case <-ctx.Done():
		return fmt.Errorf("the spill disk below %s does not answer; its files stay and the next daemon deletes them: %w", s.config.Directory, ctx.Err())
	}
	s.mu.Lock()
	if s.emptied {
		s.mu.Unlock()
		return nil
	}
	s.emptied = true
	files := s.files
	s.files = map[*file]struct{}{}
	s.mu.Unlock()
	var errs []error
	for f := range files {
		errs = append(errs, f.remove())
	}
	return errors.Join(append(errs, s.folder.close())...)
}

// unref takes one reference of a file away; mu is held. The caller deletes the file that it returns, if any, without the lock.
func (s *Store) unref(f *file) *file {
	if f.refs--; f.refs > 0 {
		return nil
	}
	return f
}

// delete removes files whose last reference is gone, and then gives their bytes back to the quota.
func (s *Store) delete(files ...*file) {
	s.mu.Lock()
	files = append(files, s.leftovers...)
	s.leftovers = nil
	s.mu.Unlock()
	for _, f := range files {
		if f == nil {
			continue
		}
		err := f.remove()
		s.mu.Lock()
		if _, ours := s.files[f]; !ours {
			// Close has deleted it.
		} else if err != nil {
			s.leftovers = append(s.leftovers, f)
		} else {
			s.stats.Used -= f.charged
			delete(s.files, f)
		}
		s.mu.Unlock()
	}
}
