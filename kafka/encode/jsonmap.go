package encode

import (
	"bytes"
	"cmp"
	"hash/maphash"
	"slices"
)

// Flink puts the entries of a map into a JSON object node one by one. A repeated key keeps its first place and takes the last
// value; keys are equal when their text is, after invalid UTF-8 was replaced. With null fields left out, a ROW value is
// written into the node of the ROW that the key had before, so that fields which are null now keep their former value and
// their former place. Other values replace the former one.

// linearKeys is the number of keys up to which repeated keys are found by comparing with each.
const linearKeys = 8

// mapKey is one distinct key of the map being written.
type mapKey struct {
	// from and to bound the quoted, escaped key in mapScratch.text. Escaping keeps different keys different.
	from, to int
	// last is the index of its last entry in the child vectors.
	last int
	// history is the index + 1 of its last entry in mapScratch.history; only of maps that merge rows.
	history int
}

// occurrence is one entry of a map that merges rows, chained to the former entry with the same key.
type occurrence struct {
	entry, former int
}

// fieldPlace is a field of a merged row and the first of the rows that has a value for it.
type fieldPlace struct {
	field, first int
}

// mapScratch holds stacks: a map inside a map works above the entries of the outer one.
type mapScratch struct {
	text    []byte
	keys    []mapKey
	history []occurrence
	// replaced are entries whose value a later entry with the same key takes the place of.
	replaced []int
	rows     []int
	places   []fieldPlace
	// buckets is a hash table, in use only while the keys of one map are collected: an index into the keys, plus 1.
	buckets []int32
	seed    maphash.Seed
}

func (s *mapScratch) reset() {
	s.text, s.keys, s.history = s.text[:0], s.keys[:0], s.history[:0]
	s.replaced, s.rows, s.places, s.buckets = s.replaced[:0], s.rows[:0], s.places[:0], s.buckets[:0]
}

// appendMap writes map i, a MAP or a MULTISET.
func (e *Encoder) appendMap(dst []byte, c *cell, i int) []byte {
	from, to := e.listSpan(c, i)
	s := &e.scratch
	text, first, history, replaced := len(s.text), len(s.keys), len(s.history), len(s.replaced)
	e.collectKeys(c, from, to)
	dst = e.checkReplaced(dst, c, replaced)
	last := len(s.keys)
	start := len(dst)
	for k := first; k < last && !e.stop(dst); k++ {
		key := s.keys[k]
		dst = append(dst, ',')
		dst = append(dst, s.text[key.from:key.to]...)
		dst = append(dst, ':')
		if key.history != 0 {
			dst = e.appendMerged(dst, &c.children[1], key)
		} else {
			dst = e.appendNullable(dst, &c.children[1], key.last)
		}
	}
	s.text, s.keys, s.history = s.text[:text], s.keys[:first], s.history[:history]
	return closeObject(dst, start)
}

// checkReplaced converts the values of the replaced entries from index first on, throws the bytes away and takes the entries
// off the stack. Flink converts every value before it replaces it, so an error in one that nobody sees fails the row too.
func (e *Encoder) checkReplaced(dst []byte, c *cell, first int) []byte {
	start, last := len(dst), len(e.scratch.replaced)
	for k := first; k < last && !e.stop(dst); k++ {
		dst = e.appendNullable(dst[:start], &c.children[1], e.scratch.replaced[k])
	}
	e.scratch.replaced = e.scratch.replaced[:first]
	return dst[:start]
}

// collectKeys pushes the distinct keys of the entries onto the stack.
func (e *Encoder) collectKeys(c *cell, from, to int) {
	s := &e.scratch
	first := len(s.keys)
	s.buckets = s.buckets[:0]
	for k := from; k < to; k++ {
		at := len(s.text)
		if c.children[0].isNull(k) {
			switch e.plan.nullKeys {
			case NullKeyDrop:
				continue
			case NullKeyFail:
				e.failNullKey(c)
				return
			}
			s.text = append(s.text, e.plan.nullKey...)
		} else {
			s.text = append(s.text, '"')
			s.text = appendEscaped(s.text, c.children[0].bytes(k))
			s.text = append(s.text, '"')
		}
		if e.stop(s.text) {
			break
		}
		slot := s.find(first, at, to-from)
		if slot < len(s.keys) {
			s.text = s.text[:at]
			s.replaced = append(s.replaced, s.keys[slot].last)
		} else {
			s.keys = append(s.keys, mapKey{from: at, to: len(s.text)})
		}
		s.keys[slot].last = k
		if c.op == opMergeMap {
			s.history = append(s.history, occurrence{entry: k, former: s.keys[slot].history})
			s.keys[slot].history = len(s.history)
		}
	}
}

func (e *Encoder) failNullKey(c *cell) {
	e.failRow(c, "JSON format doesn't support to serialize map data with null keys. You can drop null key entries or encode "+
		"null in literals by setting '"+e.plan.format+".map-null-key.mode' to 'DROP' or 'LITERAL'.")
}

// find returns the index of the key that equals text[at:] among those from first on, or len(keys). Maps of many entries
// get a hash table.
func (s *mapScratch) find(first, at, entries int) int {
	key := s.text[at:]
	if entries <= linearKeys {
		for k := first; k < len(s.keys); k++ {
			if bytes.Equal(s.text[s.keys[k].from:s.keys[k].to], key) {
				return k
			}
		}
		return len(s.keys)
	}
	if len(s.buckets) == 0 {
		s.makeTable(entries)
	}
	buckets := s.buckets
	mask := uint64(len(buckets) - 1)
	// Open addressing; at most half of the buckets are ever in use.
	for h := maphash.Bytes(s.seed, key) & mask; ; h = (h + 1) & mask {
		k := int(buckets[h])
		if k == 0 {
			buckets[h] = int32(len(s.keys) - first + 1)
			return len(s.keys)
		}
		known := &s.keys[first+k-1]
		if bytes.Equal(s.text[known.from:known.to], key) {
			return first + k - 1
		}
	}
}

// makeTable makes empty buckets for a number of entries.
func (s *mapScratch) makeTable(entries int) {
	if s.seed == (maphash.Seed{}) {
		// A random seed keeps keys that were chosen to collide from making the table slow.
		s.seed = maphash.MakeSeed()
	}
	size := 16
	for size < 2*entries {
		size *= 2
	}
	s.buckets = slices.Grow(s.buckets, size)[:size]
	clear(s.buckets)
}

// appendMerged writes the value of a key of a merging map.
func (e *Encoder) appendMerged(dst []byte, value *cell, key mapKey) []byte {
	if value.isNull(key.last) {
		return e.appendNullable(dst, value, key.last)
	}
	s := &e.scratch
	base := len(s.rows)
	// A null value drops the node: rows before it leave no trace.
	for h := key.history; h != 0 && !value.isNull(s.history[h-1].entry); h = s.history[h-1].former {
		s.rows = append(s.rows, s.history[h-1].entry)
	}
	slices.Reverse(s.rows[base:])
	dst = e.appendMergedRow(dst, value.children, base)
	s.rows = s.rows[:base]
	return dst
}

// appendMergedRow writes the rows from base of the stack on as one object, each written over the former.
func (e *Encoder) appendMergedRow(dst []byte, cells []cell, base int) []byte {
	s := &e.scratch
	rows := len(s.rows)
	if rows-base == 1 {
		return e.appendRow(dst, cells, s.rows[base])
	}
	places := len(s.places)
	for f := range cells {
		for k := base; k < rows; k++ {
			if !cells[f].isNull(s.rows[k]) {
				s.places = append(s.places, fieldPlace{field: f, first: k})
				break
			}
		}
	}
	slices.SortStableFunc(s.places[places:], func(a, b fieldPlace) int { return cmp.Compare(a.first, b.first) })
	start, end := len(dst), len(s.places)
	for p := places; p < end && !e.stop(dst); p++ {
		c := &cells[s.places[p].field]
		dst = c.lead.append(dst)
		for k := base; k < rows; k++ {
			if !c.isNull(s.rows[k]) {
				s.rows = append(s.rows, s.rows[k])
			}
		}
		if c.op == opRow {
			dst = e.appendMergedRow(dst, c.children, rows)
		} else {
			dst = e.appendValue(dst, c, s.rows[len(s.rows)-1])
		}
		s.rows = s.rows[:rows]
	}
	s.places = s.places[:places]
	return closeObject(dst, start)
}
