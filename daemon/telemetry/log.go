package telemetry

import (
	"io"
	"log/slog"
)

// NewLogger makes the daemon's logger. format is "json" or "text".
func NewLogger(w io.Writer, level slog.Level, format string) *slog.Logger {
	options := &slog.HandlerOptions{Level: level}
	if format == "json" {
		return slog.New(slog.NewJSONHandler(w, options))
	}
	return slog.New(slog.NewTextHandler(w, options))
}
