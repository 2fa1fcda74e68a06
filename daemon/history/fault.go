package history

import (
	"sync"
	"time"
)

// fault strikes beside a round, some time after the round has reached the operation's stage.
type fault struct {
	reached func()
	ended   chan error
}

// wait returns when the fault is over; a round that failed before the stage meets it now.
func (f *fault) wait() error {
	f.reached()
	return <-f.ended
}

// strike prepares the fault of the operation, if it is one. Its victims are chosen now, while nothing else looks at them.
func (j *job) strike(op operation) *fault {
	moment := make(chan struct{})
	f := &fault{sync.OnceFunc(func() { close(moment) }), make(chan error, 1)}
	act := j.faultOf(op)
	if act == nil {
		f.ended <- nil
		return f
	}
	go func() {
		<-moment
		time.Sleep(op.delay)
		f.ended <- act()
	}()
	return f
}

// faultOf is what the operation does to a process or a connection, nil when it does nothing.
func (j *job) faultOf(op operation) func() error {
	tm, daemon := j.managers[op.victim%j.parallelism], j.world.daemon
	switch op.kind {
	case TaskFailure:
		return func() error { tm.breakStream(); return nil }
	case TaskManagerKill, RescaleAfterFailure:
		return func() error { tm.kill(); return nil }
	case DaemonKill:
		return func() error { daemon.kill(); return nil }
	case DaemonStop:
		return func() error { return daemon.sleep(op.length, func() {}) }
	case DaemonStopAndTaskManagerKill:
		return func() error { return daemon.sleep(op.length, tm.kill) }
	case BrokerStop:
		return func() error {
			if err := j.world.broker.Pause(); err != nil {
				return err
			}
			time.Sleep(op.length)
			return j.world.broker.Resume()
		}
	case BrokerRestart:
		return j.world.restartBroker
	}
	return nil
}
