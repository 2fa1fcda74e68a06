package config

import (
	"net"
	"path/filepath"
	"strconv"
	"time"
)

// maxSocketPath is the room for a path in sockaddr_un, without its terminating zero.
const maxSocketPath = 107

// Limits of shm/LAYOUT.md and of Java's file mapping: one map holds at most 2 GiB - 1, and a slot's offsets leave room.
const (
	minSegment    = 64 * KiB
	maxSegment    = 1 * GiB
	pageSize      = 4 * KiB
	slotBytes     = 64
	segmentHeader = 4096
)

// Check reports everything that is wrong with the values, as Faults, or nil.
func (c *Config) Check() error {
	var f Faults
	if c.Version != Version {
		f.add("version", c.Version, "this daemon reads version %d", Version)
	}
	c.Listen.check(&f)
	c.Session.check(&f)
	c.Arena.check(&f)
	c.Writer.check(&f, c.Arena.Segment)
	c.Spill.check(&f, c.Writer.Credit)
	c.Process.check(&f, c.Writer.AbortTimeout)
	c.Metrics.check(&f)
	c.Log.check(&f)
	return f.err()
}

func (l *Listen) check(f *Faults) {
	if !filepath.IsAbs(l.Directory) {
		f.add("listen.directory", l.Directory, "must be an absolute path")
	}
	for _, s := range []struct{ key, name, path string }{
		{"listen.session_socket", l.SessionSocket, l.SessionPath()},
		{"listen.api_socket", l.APISocket, l.APIPath()},
	} {
		switch {
		case s.name == "" || filepath.Base(s.path) != filepath.Base(s.name):
			f.add(s.key, s.name, "must name a socket inside listen.directory, or be an absolute path")
		case len(s.path) > maxSocketPath:
			f.add(s.key, s.path, "the path has %d bytes and the kernel takes at most %d; choose a shorter listen.directory",
				len(s.path), maxSocketPath)
		}
	}
	if l.SessionPath() == l.APIPath() {
		f.add("listen.api_socket", l.APISocket, "is the same as listen.session_socket; give it a name of its own")
	}
	if l.SocketMode&0o600 != 0o600 || l.SocketMode&0o111 != 0 {
		f.add("listen.socket_mode", l.SocketMode, "must let the owner read and write and nobody execute; use \"0660\"")
	}
	if l.DirectoryMode&0o700 != 0o700 || l.DirectoryMode&0o002 != 0 {
		f.add("listen.directory_mode", l.DirectoryMode,
			"must give the owner all rights and others no right to write; use \"0750\"")
	}
}

func (s *Session) check(f *Faults) {
	positive(f, "session.hello_timeout", s.HelloTimeout)
	positive(f, "session.reply_timeout", s.ReplyTimeout)
	between(f, "session.max_sessions", s.MaxSessions, 1, 100_000)
}

// maxGrantWait keeps the answer to a lease within the time that clients give the daemon.
const maxGrantWait = Duration(10 * time.Second)

func (a *Arena) check(f *Faults) {
	between(f, "arena.warm_segments", a.WarmSegments, 0, 100_000)
	if a.GrantWait < 0 || a.GrantWait > maxGrantWait {
		f.add("arena.grant_wait", a.GrantWait, "must be between 0s (deny at once) and %v", maxGrantWait)
	}
	between(f, "arena.slots_per_session", a.SlotsPerSession, 1, 1<<20)
	if a.Segment < minSegment || a.Segment > maxSegment || a.Segment%pageSize != 0 {
		f.add("arena.segment", a.Segment, "must be a multiple of %v between %v and %v", pageSize, minSegment, maxSegment)
		return
	}
	table := ByteSize(segmentHeader + a.SlotsPerSession*slotBytes)
	if a.Capacity < a.Segment+table {
		f.add("arena.capacity", a.Capacity, "must hold at least one segment (arena.segment = %v) and one handle table (%d bytes)",
			a.Segment, int64(table))
		return
	}
	if a.WarmSegments > int64(a.Capacity/a.Segment) {
		f.add("arena.warm_segments", a.WarmSegments, "do not fit into arena.capacity = %v; at most %d do", a.Capacity,
			int64(a.Capacity/a.Segment))
	}
}

func (w *Writer) check(f *Faults, segment ByteSize) {
	if w.Credit < minSegment {
		f.add("writer.credit", w.Credit, "must be at least %v; 4MiB is a good value (arena.segment = %v)", minSegment, segment)
	}
	if w.InFlightTime < 0 {
		f.add("writer.in_flight_time", w.InFlightTime, "must not be negative; 100ms is a good value, and \"0s\" bounds nothing by time")
	}
	positive(f, "writer.init_timeout", w.InitTimeout)
	positive(f, "writer.produce_timeout", w.ProduceTimeout)
	positive(f, "writer.seal_timeout", w.SealTimeout)
	positive(f, "writer.abort_timeout", w.AbortTimeout)
	positive(f, "writer.open_timeout", w.OpenTimeout)
	if w.ProgressInterval.Std() < 10*time.Millisecond {
		f.add("writer.progress_interval", w.ProgressInterval, "must be at least 10ms")
	}
	between(f, "writer.max_writers", w.MaxWriters, 1, 100_000)
}

// minQuota is the smallest that holds some files of each of some writers.
const minQuota = 4 * MiB

func (s *Spill) check(f *Faults, credit ByteSize) {
	switch s.Mode {
	case SpillOff, SpillBounded, SpillOn:
	default:
		f.add("spill.mode", s.Mode, "must be off, bounded or on")
	}
	if !filepath.IsAbs(s.Directory) {
		f.add("spill.directory", s.Directory, "must be an absolute path")
	}
	if s.Quota < minQuota {
		f.add("spill.quota", s.Quota, "must be at least %v", minQuota)
	}
	if s.Mode != SpillOff && s.HighWater >= credit {
		f.add("spill.high_water", s.HighWater, "must be less than writer.credit = %v, which is all that a writer may have parked", credit)
	}
	positive(f, "spill.patience", s.Patience)
}

func (p *Process) check(f *Faults, abort Duration) {
	if p.GoMemoryLimit < 16*MiB {
		f.add("process.go_memory_limit", p.GoMemoryLimit, "must be at least 16MiB, or the garbage collector never rests")
	}
	if p.StopTimeout <= abort {
		f.add("process.stop_timeout", p.StopTimeout, "must be longer than writer.abort_timeout = %v, which is a part of it", abort)
	}
}

func (m *Metrics) check(f *Faults) {
	if m.Listen == "" {
		return
	}
	_, port, err := net.SplitHostPort(m.Listen)
	if n, bad := strconv.Atoi(port); err != nil || bad != nil || n < 0 || n > 65535 {
		f.add("metrics.listen", m.Listen, "must be host:port, for example \"127.0.0.1:9464\", or \"\" for no endpoint")
	}
}

func (l *Log) check(f *Faults) {
	switch l.Level {
	case "debug", "info", "warn", "error":
	default:
		f.add("log.level", l.Level, "must be debug, info, warn or error")
	}
	if l.Format != "text" && l.Format != "json" {
		f.add("log.format", l.Format, "must be text or json")
	}
}

func positive(f *Faults, key string, d Duration) {
	if d <= 0 {
		f.add(key, d, "must be longer than zero")
	}
}

func between(f *Faults, key string, n, low, high int64) {
	if n < low || n > high {
		f.add(key, n, "must be between %d and %d", low, high)
	}
}
