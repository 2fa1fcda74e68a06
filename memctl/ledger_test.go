package memctl

import (
	"context"
	"errors"
	"math"
	"strings"
	"sync"
	"testing"
	"time"
)

func join(t *testing.T, l *Ledger, process string, session uint32, capacity, minimum uint64) *Share {
	t.Helper()
	s, err := l.Join([]byte(process), session, capacity, minimum, "tm-"+process)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func enter(t *testing.T, a *Account, session uint32, writer, minimum uint64) *Share {
	t.Helper()
	s, err := a.Enter(context.Background(), writerOf(session, writer), ProducerQueue, minimum)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func writerOf(session uint32, writer uint64) Owner {
	return Owner{Session: session, Writer: writer, Job: "job", Vertex: "sink", Task: "Sink: orders", Subtask: 3, Attempt: 1}
}

func TestJoinRefuses(t *testing.T) {
	l := NewLedger()
	join(t, l, "p", 1, 100, 0)
	for _, c := range []struct {
		process  string
		session  uint32
		capacity uint64
		want     string
	}{
		{"", 2, 100, "process_id is empty"},
		{"q", 2, 0, "set taskmanager.memory.task.off-heap.size"},
		{"p", 2, 101, "another session of the same process said 100"},
		{"p", 1, 100, "session 1 has an account already"},
	} {
		if _, err := l.Join([]byte(c.process), c.session, c.capacity, 0, "tm"); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v", c, err)
		}
	}
	if u := l.Usage(); len(u) != 1 || len(u[0].Owners) != 1 {
		t.Errorf("a refused session left something behind: %+v", u)
	}
}

// step is one operation of an owner, reserve or giveBack, and what it must leave reserved.
type step struct {
	owner             int
	purpose           Purpose
	reserve, giveBack uint64
	outcome           int
	reserved          uint64
}

// Process p has a capacity of 100, sessions 1 and 2 (owners 0 and 1) and a writer (owner 2) with a minimum of 20.
func TestReserveAndReturn(t *testing.T) {
	const ok, denied, refused = 0, 1, 2
	for _, c := range []struct {
		name  string
		steps []step
	}{
		{"fills what floats to the last byte",
			[]step{{0, Lease, 60, 0, ok, 60}, {1, Lease, 20, 0, ok, 80}, {1, Lease, 1, 0, denied, 80}, {0, Lease, 0, 1, ok, 79}, {1, Lease, 1, 0, ok, 80}}},
		{"a minimum is kept, and can be had again after a return",
			[]step{{0, Lease, 80, 0, ok, 80}, {2, ProducerQueue, 15, 0, ok, 95}, {0, Lease, 1, 0, denied, 95}, {2, EncodeBuffer, 5, 0, ok, 100},
				{2, ProducerQueue, 0, 15, ok, 85}, {0, Lease, 1, 0, denied, 85}, {2, ProducerQueue, 15, 0, ok, 100}}},
		{"beyond its minimum an owner floats",
			[]step{{2, ProducerQueue, 50, 0, ok, 50}, {0, Lease, 50, 0, ok, 100}, {2, ProducerQueue, 0, 40, ok, 60}, {0, Lease, 31, 0, denied, 60}, {0, Lease, 30, 0, ok, 90}}},
		{"no overflow",
			[]step{{0, Lease, 1, 0, ok, 1}, {0, Lease, math.MaxUint64, 0, denied, 1}, {0, Lease, 0, math.MaxUint64, refused, 1}}},
		{"one owner cannot return what another holds",
			[]step{{0, Lease, 50, 0, ok, 50}, {1, Lease, 10, 0, ok, 60}, {1, Lease, 0, 11, refused, 60}, {1, Lease, 0, 10, ok, 50}}},
		{"nor for another purpose",
			[]step{{2, ProducerQueue, 10, 0, ok, 10}, {2, EncodeBuffer, 0, 10, refused, 10}}},
		{"nothing, and no such purpose", []step{{0, Lease, 0, 0, refused, 0}, {0, purposeCount, 1, 0, refused, 0}, {0, purposeCount, 0, 1, refused, 0}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := NewLedger()
			one := join(t, l, "p", 1, 100, 0)
			two := join(t, l, "p", 2, 100, 0)
			if one.Account() != two.Account() {
				t.Fatal("two accounts for one process")
			}
			owners := []*Share{one, two, enter(t, one.Account(), 1, 7, 20)}
			for i, s := range c.steps {
				var err error
				if s.giveBack != 0 {
					err = owners[s.owner].Return(s.purpose, s.giveBack)
				} else {
					err = owners[s.owner].Reserve(s.purpose, s.reserve)
				}
				isDenied := errors.As(err, new(*DeniedError))
				if (err == nil) != (s.outcome == ok) || isDenied != (s.outcome == denied) {
					t.Errorf("step %d: %v", i, err)
				}
				if got := one.Account().Usage(); got.Reserved != s.reserved || got.By.Sum() != s.reserved {
					t.Errorf("step %d leaves %d reserved, %v by purpose, want %d", i, got.Reserved, got.By, s.reserved)
				}
			}
		})
	}
}

func TestDenialSaysWhatToDo(t *testing.T) {
	session := join(t, NewLedger(), "p", 1, 1000, 0)
	writer := enter(t, session.Account(), 1, 7, 100)
	for _, step := range []error{session.Reserve(Lease, 600), writer.Reserve(ProducerQueue, 300), writer.Return(ProducerQueue, 250)} {
		if step != nil {
			t.Fatal(step)
		}
	}
	err := session.Reserve(Lease, 301)
	for _, part := range []string{"session 1 of tm-p", "asked for 301 bytes (lease)", "650 of 1000 bytes", "lease 600, producer_queue 50",
		"50 are kept for other consumers", "peak 900", "taskmanager.memory.task.off-heap.size", "at least 1001 bytes"} {
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("%q is not in %v", part, err)
		}
	}
	err = writer.Reserve(EncodeBuffer, 351)
	if want := "Sink: orders, subtask 3, attempt 1 (writer 7, session 1)"; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%q is not in %v", want, err)
	}
	if u := session.Account().Usage(); u.Denied != 2 || u.Available != 300 {
		t.Errorf("%+v", u)
	}
}

// A writer outlives its session for as long as its producer is being destroyed; the account lives as long as either.
func TestLeaveReturnsEverything(t *testing.T) {
	l := NewLedger()
	one, two := join(t, l, "p", 1, 100, 0), join(t, l, "p", 2, 100, 10)
	writer := enter(t, one.Account(), 1, 7, 20)
	for _, err := range []error{one.Reserve(Lease, 30), two.Reserve(Lease, 40), writer.Reserve(ProducerQueue, 10)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	if n := one.Leave(); n != 30 {
		t.Errorf("session 1 held %d", n)
	}
	if n := one.Leave(); n != 0 {
		t.Errorf("leaving twice returned %d", n)
	}
	if u := two.Account().Usage(); u.Reserved != 50 || u.Promised != 10 || u.Peak != 80 || len(u.Owners) != 2 {
		t.Errorf("%+v", u)
	}
	if err := one.Reserve(Lease, 1); !errors.Is(err, ErrEnded) {
		t.Error("a session that left reserved memory")
	}
	two.Leave()
	if u := l.Usage(); len(u) != 1 || u[0].Reserved != 10 || u[0].Promised != 10 {
		t.Errorf("the writer's memory is gone before the writer: %+v", u)
	}
	writer.Leave()
	if u := l.Usage(); len(u) != 0 {
		t.Errorf("%+v", u)
	}
	if _, err := two.Account().Enter(t.Context(), writerOf(2, 8), EncodeBuffer, 1); !errors.Is(err, ErrEnded) {
		t.Errorf("a writer of an ended account: %v", err)
	}
	join(t, l, "p", 3, 200, 0) // a new life of the same process may have another budget
}

func TestAMinimumThatDoesNotFitIsNoWriter(t *testing.T) {
	session := join(t, NewLedger(), "p", 1, 100, 60)
	enter(t, session.Account(), 1, 7, 40)
	_, err := session.Account().Enter(context.Background(), writerOf(1, 8), ProducerQueue, 1)
	if denied := (*DeniedError)(nil); !errors.As(err, &denied) || denied.Promised != 100 || denied.Purpose != ProducerQueue {
		t.Errorf("%v", err)
	}
	// A session is let in all the same: it may have to wait for the one before it.
	second := join(t, session.ledger(), "p", 2, 100, 60)
	if u := second.Account().Usage(); u.Promised != 100 {
		t.Errorf("%+v", u)
	}
	if _, err := session.Account().Enter(context.Background(), Owner{Session: 9}, Lease, 0); err == nil {
		t.Error("a session without Join")
	}
}

func (s *Share) ledger() *Ledger { return s.account.ledger }

func TestConcurrentReservations(t *testing.T) {
	session := join(t, NewLedger(), "p", 1, 64, 16)
	var wg sync.WaitGroup
	for i := range uint64(8) {
		wg.Go(func() {
			for range 500 {
				ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
				writer, err := session.Account().Enter(ctx, writerOf(1, i+1), EncodeBuffer, 8)
				cancel()
				if err != nil {
					t.Error(err)
					continue
				}
				if err := writer.Reserve(EncodeBuffer, 8); err != nil {
					t.Errorf("the minimum was not granted: %v", err)
				}
				if err := writer.Reserve(ProducerQueue, 8); err != nil && !errors.As(err, new(*DeniedError)) {
					t.Error(err)
				}
				writer.Leave()
			}
		})
	}
	wg.Wait()
	if u := session.Account().Usage(); u.Reserved != 0 || u.Peak > 64 || u.Promised != 16 {
		t.Errorf("%+v", u)
	}
}
