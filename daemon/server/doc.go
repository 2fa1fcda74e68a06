// Package server is the gRPC face of penstockd on api.sock: SinkService, DiagnosticsService, health and reflection.
//
// A writer's stream has two goroutines: one receives, one does everything else (handles requests in order, sends events), so
// that a pipeline.Writer needs no lock. The stream ends when the client closes its side, when it breaks, or when the session
// that it acts for ends.
package server
