package app

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
)

// task is one long-running part of the daemon. run returns when ctx ends or when it cannot go on.
type task struct {
	name string
	run  func(ctx context.Context) error
}

// runTasks runs all tasks until the first of them ends, whether well or not; that cancels the others. It returns when all have
// ended, with the error of the one that ended first.
func runTasks(ctx context.Context, tasks ...task) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var wait sync.WaitGroup
	for _, t := range tasks {
		wait.Go(func() { cancel(endOf(t, t.guarded(ctx))) })
	}
	wait.Wait()
	if cause := context.Cause(ctx); !errors.Is(cause, errStopped) {
		return cause
	}
	return nil
}

// errStopped is the cause when a task ended without an error.
var errStopped = errors.New("stopped")

func endOf(t task, err error) error {
	if err == nil {
		return errStopped
	}
	return fmt.Errorf("%s: %w", t.name, err)
}

// guarded turns a panic into an error with its stack.
func (t task) guarded(ctx context.Context) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	return t.run(ctx)
}
