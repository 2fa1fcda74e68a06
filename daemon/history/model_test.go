package history

import (
	"errors"
	"slices"
	"strconv"
	"strings"
	"testing"
)

func TestJudgeSeesEveryKindOfFault(t *testing.T) {
	spell := func(id int) string { return "row " + strconv.Itoa(id) }
	want := offsets{3, 0, 2}
	var good []string
	for split, rows := range want {
		for i := range rows {
			good = append(good, spell(split*splitRows+i))
		}
	}
	for name, test := range map[string]struct {
		values                    []string
		lost, duplicated, foreign int
	}{
		"exact":         {good, 0, 0, 0},
		"any order":     {reversed(good), 0, 0, 0},
		"lost":          {good[1:], 1, 0, 0},
		"twice":         {append(slices.Clone(good), good[0]), 0, 1, 0},
		"three times":   {append(slices.Clone(good), good[4], good[4]), 0, 2, 0},
		"not committed": {append(slices.Clone(good), spell(3)), 0, 0, 1},
		"other bytes":   {append(slices.Clone(good[1:]), good[0]+" "), 1, 0, 1},
	} {
		v := judge(test.values, want, spell)
		if v.rows != 5 || v.lost != test.lost || v.duplicated != test.duplicated || v.foreign != test.foreign {
			t.Errorf("%s: %+v", name, v)
		}
		if faults := test.lost + test.duplicated + test.foreign; (faults == 0) != (len(v.examples) == 0) {
			t.Errorf("%s: examples %v", name, v.examples)
		}
	}
}

func TestEveryFaultOfAHistoryFailsIt(t *testing.T) {
	if err := (&tally{rounds: 3, rows: 9, lineSeals: 3, operations: map[Kind]int{Plain: 3}}).fault(); err != nil {
		t.Errorf("a good history: %v", err)
	}
	for want, bad := range map[string]tally{
		"1 lost":               {lost: 1},
		"2 duplicated":         {duplicated: 2},
		"3 that nobody wrote":  {foreign: 3},
		"refused 1 commits":    {refused: 1},
		"no seal took a line":  {rows: 9},
		"without an excuse: x": {failures: []error{errors.New("x")}},
	} {
		if err := bad.fault(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
}

// The draws of a round must not depend on what earlier rounds have drawn, or a seed would not replay its history.
func TestSeedGivesTheHistory(t *testing.T) {
	kinds := map[Kind]int{}
	for round := range 2000 {
		one, two := draw(randomOf(7, 3, round)), draw(randomOf(7, 3, round))
		if one != two {
			t.Fatalf("round %d: %+v and %+v", round, one, two)
		}
		kinds[one.kind]++
	}
	for _, w := range weights {
		if kinds[w.kind] == 0 && w.weight > 20 {
			t.Errorf("%s is never drawn", w.kind)
		}
	}
	if draw(randomOf(7, 3, 0)) == draw(randomOf(8, 3, 0)) && draw(randomOf(7, 3, 1)) == draw(randomOf(8, 3, 1)) {
		t.Error("two seeds give the same history")
	}
}

func reversed(values []string) []string {
	values = slices.Clone(values)
	slices.Reverse(values)
	return values
}
