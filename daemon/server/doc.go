// Package server is the gRPC face of penstockd on api.sock: SinkService, DiagnosticsService, health and reflection.
//
// A writer's stream has two goroutines: one receives, one does everything else (handles requests in order, sends events), so
// that a pipeline.Writer needs no lock. The stream ends when the client closes its side, when it breaks, or when the session
// that it acts for ends.
//
// A barrier takes the short way: what is asked on the writer's line (sink.proto, WriteRequest.after) needs no thread of gRPC on
// either side. A third goroutine, of the session socket's server, receives it; the intake has one order for both:
//
//	stream --> receive --\
//	                      intake --> Backlog --> writerLoop --> answers to the stream: stream
//	line --> serveLine --/                                  \-> answers to the line: line
package server
