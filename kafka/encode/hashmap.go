package encode

import (
	"bytes"
	"slices"
	"unicode/utf8"
)

// Some of Flink's formats put the entries of a MAP into a java.util.HashMap and write them in the order in which that walks. Which
// order this is follows from its documented behaviour and was compared with real ones: keys lie in buckets by their hash, a bucket
// keeps the order in which its keys came, a repeated key keeps its place and takes the last value, and the table doubles when more
// than three quarters of it are filled, or when a bucket grows long while the table is small. A long bucket of a large table becomes
// a tree (hashtree.go).

const (
	// defaultHashTable is the table of a HashMap that was made without a capacity.
	defaultHashTable = 16
	// longBucket is the number of keys that a bucket has when one more makes the table double or the bucket a tree.
	longBucket = 8
	// treeTable is the smallest table that makes trees.
	treeTable = 64
)

// hashTableFor returns the table of a HashMap that Flink made for a number of entries (CollectionUtil.newHashMapWithExpectedSize,
// whose quotient is a float).
func hashTableFor(entries int) int {
	capacity := entries + 1
	if entries > 2 {
		quotient := float32(entries) / 0.75
		if capacity = int(quotient); float32(capacity) < quotient {
			capacity++
		}
	}
	table := 1
	for table < capacity {
		table *= 2
	}
	return table
}

// hashNode is one distinct key of a map.
type hashNode struct {
	// number is the key of a map of numbers or booleans; from and to bound a key of text in hashOrder.text.
	number   int64
	from, to int
	// last is the index of its last entry in the child vectors.
	last int
	// next is the next key of the bucket: an index into the nodes of the map, plus 1.
	next int32
	// hash is the hash code of the key with its high half mixed into the low one, which chooses the bucket.
	hash uint32
}

// hashOrder finds the order of one map at a time. text, nodes and replaced are stacks, on which the caller leaves an arranged map
// for as long as it writes values, in which there may be other maps:
//
//	start, put... for each entry, arrange; then write nodes[first:]; then cut the stacks back
type hashOrder struct {
	text  []byte
	nodes []hashNode
	// replaced are entries whose value a later entry with the same key takes the place of.
	replaced []int
	// heads is the table, in use only up to arrange: the first key of each bucket, an index into the nodes of the map, plus 1.
	heads []int32
	// first is the first node of the map that is being filled.
	first int
	// tree is in use up to arrange: empty while no bucket was a tree, else one element for each node of the map, from 1 on.
	tree []treeNode
	walk []hashNode
	// checked counts the elements of replaced values that were looked at in this batch.
	checked int
}

func (s *hashOrder) reset() {
	s.text, s.nodes, s.replaced = s.text[:0], s.nodes[:0], s.replaced[:0]
	s.checked = 0
}

// start begins a map with a table of a power of two.
func (s *hashOrder) start(table int) {
	s.first, s.tree = len(s.nodes), s.tree[:0]
	s.heads = slices.Grow(s.heads[:0], table)[:table]
	clear(s.heads)
}

// putText adds an entry whose key is the text from at on. The text stays when the key is new.
func (s *hashOrder) putText(at, entry int) {
	key := s.text[at:]
	hash := spread(stringHash(key))
	last, length := int32(0), 0
	k := *s.bucket(hash)
	if s.isTree(k) {
		s.putTextInTree(k, hashNode{from: at, to: len(s.text), last: entry, hash: hash})
		return
	}
	for ; k != 0; length++ {
		n := s.node(k)
		if n.hash == hash && bytes.Equal(s.text[n.from:n.to], key) {
			s.replace(n, entry)
			s.text = s.text[:at]
			return
		}
		last, k = k, n.next
	}
	s.link(hashNode{from: at, to: len(s.text), last: entry, hash: hash}, last, length)
}

// putNumber adds an entry whose key is a number or a boolean; hash is the hash code of its Java class.
func (s *hashOrder) putNumber(key int64, hash uint32, entry int) {
	hash = spread(hash)
	last, length := int32(0), 0
	k := *s.bucket(hash)
	if s.isTree(k) {
		s.putTree(k, hashNode{number: key, last: entry, hash: hash})
		return
	}
	for ; k != 0; length++ {
		n := s.node(k)
		if n.number == key {
			s.replace(n, entry)
			return
		}
		last, k = k, n.next
	}
	s.link(hashNode{number: key, last: entry, hash: hash}, last, length)
}

// bucket returns where the first key of the bucket of a hash stands.
func (s *hashOrder) bucket(hash uint32) *int32 { return &s.heads[hash&uint32(len(s.heads)-1)] }

func (s *hashOrder) replace(n *hashNode, entry int) {
	s.replaced = append(s.replaced, n.last)
	n.last = entry
}

// link appends a new key to its bucket, whose last of length keys is last.
func (s *hashOrder) link(n hashNode, last int32, length int) {
	s.nodes = append(s.nodes, n)
	if len(s.tree) != 0 {
		s.tree = append(s.tree, treeNode{})
	}
	k := int32(len(s.nodes) - s.first)
	head := s.bucket(n.hash)
	if last == 0 {
		*head = k
	} else {
		s.node(last).next = k
	}
	if length >= longBucket {
		if len(s.heads) >= treeTable {
			s.makeTree(*head)
		} else {
			s.double()
		}
	}
	s.grow()
}

// grow makes the table larger when it is too full for the keys that are in it now.
func (s *hashOrder) grow() {
	if len(s.nodes)-s.first > len(s.heads)*3/4 {
		s.double()
	}
}

// double makes the table twice as large: each bucket becomes two, in which the keys keep their order.
func (s *hashOrder) double() {
	old := len(s.heads)
	s.heads = slices.Grow(s.heads, old)[:2*old]
	clear(s.heads[old:])
	for b := range old {
		k := s.heads[b]
		wasTree := s.isTree(k)
		s.heads[b] = 0
		ends := [2]*int32{&s.heads[b], &s.heads[b+old]}
		counts := [2]int{}
		for k != 0 {
			n := s.node(k)
			side := 0
			if n.hash&uint32(old) != 0 {
				side = 1
			}
			*ends[side] = k
			ends[side] = &n.next
			counts[side]++
			k, n.next = n.next, 0
		}
		if wasTree {
			s.splitTree(s.heads[b], counts[0], counts[1] == 0)
			s.splitTree(s.heads[b+old], counts[1], counts[0] == 0)
		}
	}
}

// arrange puts the nodes of the map, nodes[first:], into the order of the walk.
func (s *hashOrder) arrange() {
	s.walk = s.walk[:0]
	for _, k := range s.heads {
		for k != 0 {
			n := *s.node(k)
			s.walk = append(s.walk, n)
			k = n.next
		}
	}
	copy(s.nodes[s.first:], s.walk)
}

// spread mixes the high half of a hash code into the low one, as HashMap does.
func spread(hash uint32) uint32 { return hash ^ hash>>16 }

// stringHash is String.hashCode of valid UTF-8: a polynomial over UTF-16 units.
func stringHash(text []byte) uint32 {
	h := uint32(0)
	for i := 0; i < len(text); {
		if c := text[i]; c < utf8.RuneSelf {
			h = 31*h + uint32(c)
			i++
			continue
		}
		r, n := utf8.DecodeRune(text[i:])
		i += n
		if r >= 0x10000 {
			// Two units, as in utf16.EncodeRune.
			r -= 0x10000
			h = 31*h + uint32(0xD800+r>>10)
			r = 0xDC00 + r&0x3FF
		}
		h = 31*h + uint32(r)
	}
	return h
}

// longHash is Long.hashCode.
func longHash(v int64) uint32 { return uint32(v) ^ uint32(v>>32) }

// boolHash is Boolean.hashCode.
func boolHash(v bool) uint32 {
	if v {
		return 1231
	}
	return 1237
}
