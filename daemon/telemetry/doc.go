// Package telemetry is what penstockd says about itself: the names of all metrics and log fields (names.go), the counters that
// the rest of the daemon raises, the Prometheus collector over them and over the status snapshot, and the logger.
//
// A counter is raised in bulk, once per batch or epoch, never per row. Labels are constant for a metric.
package telemetry
