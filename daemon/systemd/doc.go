// Package systemd holds penstockd's unit files; its tests hold them to the daemon's configuration, and `make unit-check` to
// systemd's own opinion. How the daemon speaks with the service manager is in daemon/app (notify, watchdog, keeper) and daemon/listen
// (activation).
package systemd
