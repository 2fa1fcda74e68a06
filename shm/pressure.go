package shm

import "sync/atomic"

// Press asks the session for the segments that it does not use, by counting up a word that the session looks at. It never waits, and
// the session may be in any state: nothing is sent.
func (t *Table) Press() {
	if !t.segment.pin() {
		return
	}
	defer t.segment.unpin()
	// The session can write this word. What it makes of it harms nobody else.
	atomic.AddUint64(WordAt(t.segment.m.mem, segPressure), 1)
}
