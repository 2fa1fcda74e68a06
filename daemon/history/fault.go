package history

import (
	"sync"
	"time"
)

// fault strikes beside a round, some time after the round has reached the operation's stage.
type fault struct {
	reached func()
	ended   chan struct{}
	err     error // valid after ended is closed
}

// wait returns when the fault is over; a round that failed before the stage meets it now. It may be called again.
func (f *fault) wait() error {
	f.reached()
	<-f.ended
	return f.err
}

// strike prepares the fault of the operation, if it is one. Its victims are chosen now, while nothing else looks at them.
func (j *job) strike(op operation) *fault {
	act := j.faultOf(op)
	if act == nil {
		act = func() error { return nil }
	}
	return newFault(func() error {
		time.Sleep(op.delay)
		return act()
	})
}

// newFault makes one that acts once its moment is reached.
func newFault(act func() error) *fault {
	moment := make(chan struct{})
	f := &fault{reached: sync.OnceFunc(func() { close(moment) }), ended: make(chan struct{})}
	go func() {
		defer close(f.ended)
		<-moment
		f.err = act()
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
	case NodeFreeze:
		return func() error {
			err := daemon.stop()
			for _, tm := range j.managers {
				if tm != nil {
					tm.kill()
				}
			}
			return err
		}
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
