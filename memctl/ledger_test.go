package memctl

import (
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
)

func join(t *testing.T, l *Ledger, process string, session uint32, budget uint64) *Account {
	t.Helper()
	a, err := l.Join([]byte(process), session, budget, "tm-"+process)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func TestJoinRefuses(t *testing.T) {
	l := NewLedger()
	join(t, l, "p", 1, 100)
	for _, c := range []struct {
		process string
		session uint32
		budget  uint64
		want    string
	}{
		{"", 2, 100, "process_id is empty"},
		{"q", 2, 0, "set taskmanager.memory.task.off-heap.size"},
		{"p", 2, 101, "another session of the same process said 100"},
		{"q", 1, 100, "session 1 has an account already"},
	} {
		if _, err := l.Join([]byte(c.process), c.session, c.budget, "tm"); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v", c, err)
		}
	}
	if u := l.Usage(); len(u) != 1 || len(u[0].Held) != 1 {
		t.Errorf("a refused session left something behind: %+v", u)
	}
}

// step is one operation on process p, reserve or giveBack, and what it must leave reserved.
type step struct {
	session           uint32
	reserve, giveBack uint64
	outcome           int
	reserved          uint64
}

// Process p has sessions 1 and 2 and one budget of 100.
func TestReserveAndReturn(t *testing.T) {
	const ok, denied, refused = 0, 1, 2
	for _, c := range []struct {
		name  string
		steps []step
	}{
		{"fills to the last byte",
			[]step{{1, 60, 0, ok, 60}, {2, 40, 0, ok, 100}, {2, 1, 0, denied, 100}, {1, 0, 1, ok, 99}, {2, 1, 0, ok, 100}}},
		{"no overflow",
			[]step{{1, 1, 0, ok, 1}, {1, math.MaxUint64, 0, denied, 1}, {1, 0, math.MaxUint64, refused, 1}}},
		{"one session cannot return what another holds",
			[]step{{1, 50, 0, ok, 50}, {2, 10, 0, ok, 60}, {2, 0, 11, refused, 60}, {2, 0, 10, ok, 50}}},
		{"strangers and nothing",
			[]step{{3, 1, 0, refused, 0}, {3, 0, 1, refused, 0}, {1, 0, 0, refused, 0}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := NewLedger()
			a := join(t, l, "p", 1, 100)
			if join(t, l, "p", 2, 100) != a {
				t.Fatal("two accounts for one process")
			}
			for i, s := range c.steps {
				var err error
				if s.giveBack != 0 {
					err = a.Return(s.session, s.giveBack)
				} else {
					err = a.Reserve(s.session, "sink", s.reserve)
				}
				isDenied := errors.As(err, new(*DeniedError))
				if (err == nil) != (s.outcome == ok) || isDenied != (s.outcome == denied) {
					t.Errorf("step %d: %v", i, err)
				}
				if got := a.Usage().Reserved; got != s.reserved {
					t.Errorf("step %d leaves %d reserved, want %d", i, got, s.reserved)
				}
			}
		})
	}
}

func TestDenialSaysWhatToDo(t *testing.T) {
	a := join(t, NewLedger(), "p", 1, 1000)
	for _, step := range []error{a.Reserve(1, "sink orders", 900), a.Return(1, 100)} {
		if step != nil {
			t.Fatal(step)
		}
	}
	err := a.Reserve(1, "sink payments", 300)
	for _, part := range []string{`"sink payments"`, "session 1 of tm-p", "asked for 300 bytes", "800 of 1000 bytes", "peak 900",
		"taskmanager.memory.task.off-heap.size", "at least 1100 bytes"} {
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("%q is not in %v", part, err)
		}
	}
	if u := a.Usage(); u.Denied != 1 {
		t.Errorf("%+v", u)
	}
}

func TestLeaveReturnsEverything(t *testing.T) {
	l := NewLedger()
	a := join(t, l, "p", 1, 100)
	join(t, l, "p", 2, 100)
	for session, bytes := range map[uint32]uint64{1: 30, 2: 50} {
		if err := a.Reserve(session, "sink", bytes); err != nil {
			t.Fatal(err)
		}
	}
	if n := l.Leave(1); n != 30 {
		t.Errorf("session 1 held %d", n)
	}
	if n := l.Leave(1); n != 0 {
		t.Errorf("leaving twice returned %d", n)
	}
	if u := a.Usage(); u.Reserved != 50 || u.Peak != 80 || len(u.Held) != 1 {
		t.Errorf("%+v", u)
	}
	if err := a.Reserve(1, "sink", 1); err == nil {
		t.Error("a session that left reserved memory")
	}
	l.Leave(2)
	if u := l.Usage(); len(u) != 0 {
		t.Errorf("%+v", u)
	}
	join(t, l, "p", 3, 200) // a new life of the same process may have another budget
}

// Random operations against a model that is as simple as can be: a list of reservations.
func TestAgainstModel(t *testing.T) {
	for seed := range uint64(50) {
		r := rand.New(rand.NewPCG(seed, 1))
		l := NewLedger()
		const budget = 1000
		type reservation struct {
			session uint32
			bytes   uint64
		}
		var model []reservation
		peak := uint64(0)
		sum := func(session uint32) (n uint64) {
			for _, x := range model {
				if session == 0 || x.session == session {
					n += x.bytes
				}
			}
			return n
		}
		a := join(t, l, "p", 1, budget)
		join(t, l, "p", 2, budget)
		join(t, l, "p", 3, budget)
		for step := range 300 {
			session := 1 + r.Uint32N(3)
			switch op := r.IntN(10); {
			case op < 6:
				bytes := 1 + r.Uint64N(300)
				err := a.Reserve(session, "sink", bytes)
				if fits := sum(0)+bytes <= budget; fits != (err == nil) {
					t.Fatalf("seed %d step %d: %d bytes on top of %d: %v", seed, step, bytes, sum(0), err)
				}
				if err == nil {
					model = append(model, reservation{session, bytes})
					peak = max(peak, sum(0))
				}
			case op < 9 && len(model) > 0:
				i := r.IntN(len(model))
				if err := a.Return(model[i].session, model[i].bytes); err != nil {
					t.Fatalf("seed %d step %d: %v", seed, step, err)
				}
				model = append(model[:i], model[i+1:]...)
			default:
				if got, want := l.Leave(session), sum(session); got != want {
					t.Fatalf("seed %d step %d: session %d left with %d, model says %d", seed, step, session, got, want)
				}
				kept := model[:0]
				for _, x := range model {
					if x.session != session {
						kept = append(kept, x)
					}
				}
				model = kept
				join(t, l, "p", session, budget)
			}
			u := a.Usage()
			if u.Reserved != sum(0) || u.Peak != peak || u.Reserved > u.Capacity {
				t.Fatalf("seed %d step %d: %+v, model says %d, peak %d", seed, step, u, sum(0), peak)
			}
			for s, bytes := range u.Held {
				if bytes != sum(s) {
					t.Fatalf("seed %d step %d: session %d holds %d, model says %d", seed, step, s, bytes, sum(s))
				}
			}
		}
	}
}

func TestConcurrentReservations(t *testing.T) {
	l := NewLedger()
	a := join(t, l, "p", 1, 64)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 500 {
				if err := a.Reserve(1, "sink", 16); err == nil {
					if u := a.Usage(); u.Reserved > u.Capacity {
						t.Errorf("%+v", u)
					}
					if err := a.Return(1, 16); err != nil {
						t.Error(err)
					}
				} else if !errors.As(err, new(*DeniedError)) {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if u := a.Usage(); u.Reserved != 0 || u.Peak > 64 {
		t.Errorf("%+v", u)
	}
}
