package app

import (
	"context"
	"errors"
	"strings"
	"testing"
)

// patient is a task that ends with its context and tells that it did.
func patient(ended chan<- string, name string) task {
	return task{name, func(ctx context.Context) error {
		<-ctx.Done()
		ended <- name
		return ctx.Err()
	}}
}

func TestFirstFailureEndsTheOthers(t *testing.T) {
	broken := errors.New("broken")
	ended := make(chan string, 2)
	err := runTasks(context.Background(), patient(ended, "a"), patient(ended, "b"),
		task{"bad", func(context.Context) error { return broken }})
	if !errors.Is(err, broken) || !strings.HasPrefix(err.Error(), "bad: ") {
		t.Errorf("got %v, want the failure and the task's name", err)
	}
	if len(ended) != 2 {
		t.Errorf("%d of 2 other tasks ended", len(ended))
	}
}

func TestPanicIsAnError(t *testing.T) {
	ended := make(chan string, 1)
	err := runTasks(context.Background(), patient(ended, "a"), task{"wild", func(context.Context) error { panic("boo") }})
	if err == nil || !strings.Contains(err.Error(), "wild: panic: boo") || !strings.Contains(err.Error(), "tasks_test.go") {
		t.Errorf("got %v, want the panic with its stack", err)
	}
}

func TestGoodEndIsNoError(t *testing.T) {
	ended := make(chan string, 1)
	err := runTasks(context.Background(), patient(ended, "a"), task{"done", func(context.Context) error { return nil }})
	if err != nil || len(ended) != 1 {
		t.Errorf("got %v, %d ended", err, len(ended))
	}
}
