package encode

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// walkTexts returns the keys and the last entries of a java.util.HashMap into which keys were put.
func walkTexts(s *hashOrder, table int, keys []string) (walk []string) {
	s.start(table)
	for i, key := range keys {
		at := len(s.text)
		s.text = append(s.text, key...)
		s.putText(at, i)
	}
	s.arrange()
	for _, n := range s.nodes[s.first:] {
		walk = append(walk, fmt.Sprintf("%s=%d", s.text[n.from:n.to], n.last))
	}
	return walk
}

// colliding returns keys that have one hash code.
func colliding(n int) []string {
	var keys []string
	for i := range n {
		key := ""
		for k := 3; k >= 0; k-- {
			key += []string{"Aa", "BB"}[i>>k&1]
		}
		keys = append(keys, key)
	}
	return keys
}

// What JDK 17 prints for maps of strings that were made for their number of entries, and without a capacity.
func TestHashOrderOfTexts(t *testing.T) {
	var forty []string
	for i := range 40 {
		forty = append(forty, fmt.Sprintf("key%d", i*7919%1000))
	}
	const walkOfForty = "key0=0 key838=2 key514=6 key975=25 key813=27 key3=37 key757=3 key218=22 key433=7 key84=36 key894=26 " +
		"key732=28 key676=4 key137=23 key352=8 key299=21 key651=29 key595=5 key271=9 key570=30 key56=24 key190=10 key947=13 " +
		"key408=32 key704=16 key866=14 key327=33 key623=17 key109=11 key922=38 key785=15 key246=34 key542=18 key489=31 " +
		"key841=39 key165=35 key461=19 key380=20 key28=12 key919=1"
	const walkOfNine = "AaAaAaAa=0 AaAaAaBB=1 AaAaBBAa=2 AaAaBBBB=3 AaBBAaAa=4 AaBBAaBB=5 AaBBBBAa=6 AaBBBBBB=7 BBAaAaAa=8"
	odd := []string{"é", "€", "\U0001F600", "", "z\x00", "\uFFFD", "字"}
	for _, c := range []struct {
		keys          []string
		sized, unsize string
	}{
		{nil, "", ""},
		{[]string{"a"}, "a=0", "a=0"},
		{[]string{"b", "a"}, "a=1 b=0", "a=1 b=0"},
		{[]string{"z", "y", "x", "w"}, "x=2 y=1 z=0 w=3", "w=3 x=2 y=1 z=0"},
		{[]string{"k1", "k2", "k3", "k10", "k11", "k20"}, "k3=2 k20=5 k11=4 k10=3 k1=0 k2=1", "k1=0 k2=1 k3=2 k20=5 k11=4 k10=3"},
		{[]string{"apple", "banana", "cherry", "date"}, "banana=1 date=3 apple=0 cherry=2", "banana=1 date=3 apple=0 cherry=2"},
		{[]string{"b", "a", "b", "c", "a"}, "a=4 b=2 c=3", "a=4 b=2 c=3"},
		{odd, "=3 z\x00=4 字=6 \U0001F600=2 é=0 €=1 \uFFFD=5", "=3 z\x00=4 字=6 \U0001F600=2 é=0 €=1 \uFFFD=5"},
		{forty, walkOfForty, walkOfForty},
		// A table below 64 doubles instead of making a tree.
		{append(colliding(9), "x", "q"), walkOfNine + " q=10 x=9", walkOfNine + " q=10 x=9"},
		{append(colliding(10), "x", "q"), walkOfNine + " BBAaAaBB=9 q=11 x=10", walkOfNine + " BBAaAaBB=9 q=11 x=10"},
	} {
		var s hashOrder
		for table, want := range map[int]string{hashTableFor(len(c.keys)): c.sized, defaultHashTable: c.unsize} {
			s.reset()
			if walk := walkTexts(&s, table, c.keys); strings.Join(walk, " ") != want {
				t.Errorf("%q with a table of %d: got %q, want %q", c.keys, table, walk, want)
			}
		}
	}
}

// What JDK 17 prints for maps without a capacity.
func TestHashOrderOfNumbers(t *testing.T) {
	integer := func(v int64) uint32 { return uint32(v) }
	for _, c := range []struct {
		hash       func(int64) uint32
		keys, want []int64
	}{
		{integer, []int64{17, 1, 33, -1, 100, 16}, []int64{-1, 16, 17, 1, 33, 100}},
		{integer, []int64{1 << 16, 1 << 20, 5, -1 << 31, 3, 65537}, []int64{1 << 20, -1 << 31, 65537, 1 << 16, 3, 5}},
		{
			integer, []int64{1, 1025, 2049, 3073, 4097, 5121, 6145, 7169, 8193, 2, 64, 0, 16},
			[]int64{64, 0, 1, 1025, 2049, 3073, 4097, 5121, 6145, 7169, 8193, 2, 16},
		},
		{
			longHash, []int64{17, -1, 1 << 32, -1 << 63, 1<<63 - 1, 16, 65536, 100},
			[]int64{-1, -1 << 63, 1<<63 - 1, 16, 17, 1 << 32, 65536, 100},
		},
		{func(v int64) uint32 { return boolHash(v != 0) }, []int64{1, 0, 1}, []int64{0, 1}},
	} {
		var s hashOrder
		s.start(defaultHashTable)
		for i, key := range c.keys {
			s.putNumber(key, c.hash(key), i)
		}
		s.arrange()
		var walk []int64
		for _, n := range s.nodes {
			walk = append(walk, n.number)
		}
		if !slices.Equal(walk, c.want) {
			t.Errorf("%d: got %d, want %d", c.keys, walk, c.want)
		}
	}
}

// A map inside of a map is arranged above the nodes of the outer one, and replaced entries are told.
func TestHashOrderNests(t *testing.T) {
	var s hashOrder
	outer := walkTexts(&s, 4, []string{"b", "a", "b"})
	first := s.first
	inner := walkTexts(&s, 2, []string{"d", "c"})
	if fmt.Sprint(outer, inner, s.replaced) != "[a=1 b=2] [d=0 c=1] [0]" || len(s.nodes) != 4 {
		t.Errorf("got %q, %q, %d", outer, inner, s.replaced)
	}
	if n := s.nodes[first]; string(s.text[n.from:n.to]) != "a" {
		t.Errorf("the outer map begins with %q", s.text[n.from:n.to])
	}
}

func TestHashTables(t *testing.T) {
	for entries, want := range map[int]int{0: 1, 1: 2, 2: 4, 3: 4, 4: 8, 6: 8, 7: 16, 12: 16, 13: 32, 48: 64, 49: 128} {
		if got := hashTableFor(entries); got != want {
			t.Errorf("%d entries: a table of %d, want %d", entries, got, want)
		}
	}
}
