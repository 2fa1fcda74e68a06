//go:build faultpoints

package faultpoint

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"sync"
	"syscall"
	"time"

	"penstock.dev/penstock/kafka/producer"
)

// Variable names the file with the rules.
const Variable = "PENSTOCK_FAULTPOINTS"

var actions = map[string]func(*rule) error{
	"kill":  func(*rule) error { return signal(syscall.SIGKILL) },
	"stop":  func(*rule) error { return signal(syscall.SIGSTOP) },
	"leak":  func(*rule) error { return leak() },
	"delay": func(r *rule) error { time.Sleep(r.wait); return nil },
	"error": func(r *rule) error {
		return producer.Errorf(producer.FailEpoch, "fault point %s: failed as its rule wants", r.point)
	},
}

// current are the rules of the file as it was read last.
var current struct {
	sync.Mutex
	text  string
	rules []*rule
}

// Hit does what the rules of this place say. A file that cannot be understood is a panic: a test that goes on without its fault proves
// nothing.
func Hit(p Point) error {
	for _, r := range firing(p) {
		fmt.Fprintf(os.Stderr, "fault point %s: %s\n", p, r.action)
		if err := actions[r.action](r); err != nil {
			return err
		}
	}
	return nil
}

func firing(p Point) []*rule {
	current.Lock()
	defer current.Unlock()
	if err := refresh(os.Getenv(Variable)); err != nil {
		panic(fmt.Sprintf("%s=%s: %v", Variable, os.Getenv(Variable), err))
	}
	var firing []*rule
	for _, r := range current.rules {
		if r.point == p && r.fires(rand.Float64()) {
			firing = append(firing, r)
		}
	}
	return firing
}

// refresh reads the file; one that is not there has no rules.
func refresh(file string) error {
	if file == "" {
		return nil
	}
	text, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if string(text) == current.text {
		return nil
	}
	rules, err := parse(string(text))
	if err != nil {
		return err
	}
	current.text, current.rules = string(text), rules
	return nil
}

// signal sends itself a signal and gives it time to arrive.
func signal(s syscall.Signal) error {
	if err := syscall.Kill(os.Getpid(), s); err != nil {
		return err
	}
	time.Sleep(100 * time.Millisecond)
	return nil
}
