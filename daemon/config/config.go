package config

import (
	_ "embed"
	"log/slog"
	"os"
	"path/filepath"
	"time"
)

// Version is the value of the version key that this daemon reads.
const Version = 1

// Sample is the commented file with every key at its default.
//
//go:embed penstockd.toml
var Sample string

// Config is the whole configuration of one daemon. It is read once at start and never changed afterwards.
type Config struct {
	Version int64   `toml:"version"`
	Listen  Listen  `toml:"listen"`
	Session Session `toml:"session"`
	Arena   Arena   `toml:"arena"`
	Writer  Writer  `toml:"writer"`
	Spill   Spill   `toml:"spill"`
	Process Process `toml:"process"`
	Metrics Metrics `toml:"metrics"`
	Log     Log     `toml:"log"`
}

// Listen says where the two sockets are and who may connect.
type Listen struct {
	Directory string `toml:"directory"`
	// SessionSocket and APISocket are names inside Directory, or absolute paths.
	SessionSocket string   `toml:"session_socket"`
	APISocket     string   `toml:"api_socket"`
	SocketMode    FileMode `toml:"socket_mode"`
	DirectoryMode FileMode `toml:"directory_mode"`
	// AllowUIDs and AllowGIDs: a peer needs to be in one of them. Both empty means the daemon's own uid and gid.
	AllowUIDs []uint32 `toml:"allow_uids"`
	AllowGIDs []uint32 `toml:"allow_gids"`
}

// Session bounds what one client connection may cost.
type Session struct {
	HelloTimeout Duration `toml:"hello_timeout"`
	ReplyTimeout Duration `toml:"reply_timeout"`
	MaxSessions  int64    `toml:"max_sessions"`
}

// Arena sizes the shared memory.
type Arena struct {
	Capacity        ByteSize `toml:"capacity"`
	Segment         ByteSize `toml:"segment"`
	WarmSegments    int64    `toml:"warm_segments"`
	SlotsPerSession int64    `toml:"slots_per_session"`
	GrantWait       Duration `toml:"grant_wait"`
}

// Writer bounds one sink writer and its Kafka producers.
type Writer struct {
	Credit ByteSize `toml:"credit"`
	// InFlightTime 0: only Credit and the producer's queue bound what is in flight.
	InFlightTime     Duration `toml:"in_flight_time"`
	InitTimeout      Duration `toml:"init_timeout"`
	ProduceTimeout   Duration `toml:"produce_timeout"`
	SealTimeout      Duration `toml:"seal_timeout"`
	AbortTimeout     Duration `toml:"abort_timeout"`
	OpenTimeout      Duration `toml:"open_timeout"`
	ProgressInterval Duration `toml:"progress_interval"`
	MaxWriters       int64    `toml:"max_writers"`
}

// Spill says whether, when and where parked batches go to a disk.
type Spill struct {
	// Mode is SpillOff, SpillBounded or SpillOn.
	Mode      string   `toml:"mode"`
	Directory string   `toml:"directory"`
	Quota     ByteSize `toml:"quota"`
	HighWater ByteSize `toml:"high_water"`
	Patience  Duration `toml:"patience"`
}

// The modes of Spill.
const (
	SpillOff     = "off"
	SpillBounded = "bounded"
	SpillOn      = "on"
)

// Process holds what concerns the daemon's own process.
type Process struct {
	GoMemoryLimit ByteSize `toml:"go_memory_limit"`
	ShutdownGrace Duration `toml:"shutdown_grace"`
	StopTimeout   Duration `toml:"stop_timeout"`
}

// Metrics is the Prometheus endpoint.
type Metrics struct {
	Listen string `toml:"listen"`
}

// Log is the daemon's own log, on standard error.
type Log struct {
	Level  string `toml:"level"`
	Format string `toml:"format"`
}

// Default is what penstockd runs with when it is given no file.
func Default() *Config {
	return &Config{
		Version: Version,
		Listen: Listen{
			Directory:     "/run/penstock",
			SessionSocket: "session.sock",
			APISocket:     "api.sock",
			SocketMode:    0o660,
			DirectoryMode: 0o750,
		},
		Session: Session{
			HelloTimeout: Duration(5 * time.Second),
			ReplyTimeout: Duration(5 * time.Second),
			MaxSessions:  64,
		},
		Arena: Arena{Capacity: 512 * MiB, Segment: 32 * MiB, WarmSegments: 2, SlotsPerSession: 1024, GrantWait: Duration(time.Second)},
		Writer: Writer{
			Credit:           4 * MiB,
			InFlightTime:     Duration(100 * time.Millisecond),
			InitTimeout:      Duration(60 * time.Second),
			ProduceTimeout:   Duration(60 * time.Second),
			SealTimeout:      Duration(150 * time.Second),
			AbortTimeout:     Duration(10 * time.Second),
			OpenTimeout:      Duration(10 * time.Second),
			ProgressInterval: Duration(200 * time.Millisecond),
			MaxWriters:       256,
		},
		Spill: Spill{Mode: SpillOff, Directory: "/var/tmp/penstock", Quota: 4 * GiB, HighWater: 2 * MiB, Patience: Duration(500 * time.Millisecond)},
		Process: Process{
			GoMemoryLimit: 256 * MiB,
			ShutdownGrace: Duration(30 * time.Second),
			StopTimeout:   Duration(20 * time.Second),
		},
		Metrics: Metrics{Listen: "127.0.0.1:9464"},
		Log:     Log{Level: "info", Format: "text"},
	}
}

// memoryMargin is for what a daemon needs besides arena and Go heap: the program, threads, and librdkafka's queues, of 4 MiB for each
// writer at work. More than a hundred busy writers on one node want more.
const memoryMargin = 512 * MiB

// MemoryNeed is the smallest memory limit (cgroup, container) that holds a daemon with this configuration under load.
func (c *Config) MemoryNeed() ByteSize {
	return c.Arena.Capacity + c.Process.GoMemoryLimit + memoryMargin
}

// SessionPath is the absolute path of the session socket.
func (l *Listen) SessionPath() string { return l.join(l.SessionSocket) }

// APIPath is the absolute path of the gRPC socket.
func (l *Listen) APIPath() string { return l.join(l.APISocket) }

func (l *Listen) join(name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(l.Directory, name)
}

// Peers returns the effective allow-lists: the configured ones, or the daemon's own uid and gid when both are empty.
func (l *Listen) Peers() (uids, gids []uint32) {
	if len(l.AllowUIDs) == 0 && len(l.AllowGIDs) == 0 {
		return []uint32{uint32(os.Geteuid())}, []uint32{uint32(os.Getegid())}
	}
	return l.AllowUIDs, l.AllowGIDs
}

// SlogLevel translates Level, which Check has approved.
func (l *Log) SlogLevel() slog.Level {
	var level slog.Level
	if err := level.UnmarshalText([]byte(l.Level)); err != nil {
		return slog.LevelInfo
	}
	return level
}
