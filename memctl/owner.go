package memctl

import "fmt"

// Owner is in whose name memory is reserved: a session (for its leases, which all its writers use), or one writer of a session. It
// is comparable, and unique in one daemon life.
type Owner struct {
	// Session is the session's number.
	Session uint32
	// Writer is the writer's number, 0 for the session itself. It tells writers apart that run in one task: sinks that Flink
	// has chained have the same job, vertex, subtask and attempt.
	Writer      uint64
	Job, Vertex string
	// Task is the task's name, for messages.
	Task             string
	Subtask, Attempt uint32
}

// String names the owner in messages and in the status.
func (o Owner) String() string {
	if o.Writer == 0 {
		return fmt.Sprintf("session %d", o.Session)
	}
	return fmt.Sprintf("%s, subtask %d, attempt %d (writer %d, session %d)", o.Task, o.Subtask, o.Attempt, o.Writer, o.Session)
}
