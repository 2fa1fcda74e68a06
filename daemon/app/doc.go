// Package app puts penstockd together: it builds every part from the configuration, runs all long tasks under one context and
// takes everything down again.
//
//	New     folder, locks, sockets (bound, not yet accepting), arena with what is adopted, engine, services
//	Run     accept; warm segments exist --> ready (health SERVING, log line, READY=1)
//	signal  health NOT_SERVING, no new sessions, serve on until the last session ends or shutdown_grace is over
//	stop    end sessions and their writers, stop gRPC, destroy producers, unmap; each bounded by stop_timeout
//
// The first task that fails takes the others down, and a panic of a task is an error like any other.
package app
