// Package pace bounds by time what one writer has in flight. A barrier waits until all of that is acknowledged, so a bound in bytes
// makes a checkpoint as long as the broker is slow. Pace measures how many bytes a second the broker takes from the writer and says how
// many may wait: what it takes within the target.
//
//	Meter.Observe(time, acknowledged, waiting) --> bytes per second, smoothed --> Pace.Bytes
//
// A rate says something about the broker only while the broker has work. An interval counts when at its beginning and at its end at
// least half of what may wait was waiting; so a slow source is never taken for a slow broker, and neither are the connections that a
// new producer opens before its first acknowledgement.
//
// The bound is its own measure: with a bound that the broker acknowledges in less than the target, the rate is higher than bound
// divided by target, and the bound grows, until the target is met. A broker whose answers alone take longer than the target leaves a
// writer with Least.
//
// Checkpoints are periodic. From two targets before a barrier is expected until two targets after, a quarter of that may wait: long enough
// to let the queue drain, short enough that nothing is lost where checkpoints come when they like. Closer to it (Near) nothing should
// linger.
//
// The package reads no clock and knows no Kafka client.
package pace
