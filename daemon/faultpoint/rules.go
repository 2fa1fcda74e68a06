//go:build faultpoints

package faultpoint

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// points are all places that a rule may name.
var points = map[Point]bool{InInit: true, AfterBegin: true, InClaim: true, InEncode: true, AfterLastRow: true, InFlush: true,
	AfterFlush: true, AfterReply: true, InDestroy: true}

// rule is one line of the file, with what it has done.
type rule struct {
	point  Point
	action string
	after  int
	times  int
	chance float64
	wait   time.Duration

	hits, done int
}

// parse reads all rules; the error names the line.
func parse(text string) ([]*rule, error) {
	var rules []*rule
	for i, line := range strings.Split(text, "\n") {
		line, _, _ = strings.Cut(line, "#")
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		r, err := parseRule(words)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", i+1, err)
		}
		rules = append(rules, r)
	}
	return rules, nil
}

func parseRule(words []string) (*rule, error) {
	if len(words) < 2 {
		return nil, fmt.Errorf("%q: want a place and an action", words[0])
	}
	r := &rule{point: Point(words[0]), action: words[1], times: 1, chance: 1, wait: time.Second}
	if !points[r.point] {
		return nil, fmt.Errorf("there is no place %q", r.point)
	}
	if _, ok := actions[r.action]; !ok {
		return nil, fmt.Errorf("there is no action %q; use kill, stop, delay, leak or error", r.action)
	}
	for _, word := range words[2:] {
		if err := r.set(word); err != nil {
			return nil, fmt.Errorf("%q: %w", word, err)
		}
	}
	return r, nil
}

func (r *rule) set(word string) (err error) {
	name, value, _ := strings.Cut(word, "=")
	switch name {
	case "after":
		r.after, err = strconv.Atoi(value)
	case "times":
		r.times, err = strconv.Atoi(value)
	case "chance":
		r.chance, err = strconv.ParseFloat(value, 64)
	case "for":
		r.wait, err = time.ParseDuration(value)
	default:
		err = fmt.Errorf("want after=, times=, chance= or for=")
	}
	return err
}

// fires counts a hit and tells whether the rule acts on it; dice is from 0 to below 1.
func (r *rule) fires(dice float64) bool {
	r.hits++
	if r.hits <= r.after || r.done >= r.times || dice >= r.chance {
		return false
	}
	r.done++
	return true
}
