package encode

import "google.golang.org/protobuf/encoding/protowire"

// Flink puts the entries of a map into a HashMap of the default size, and protobuf's map field keeps the order in which that walks.

// appendProtoMap writes map i as one message for each key. Key and value of an entry are always written, also when they are
// defaults.
func (e *Encoder) appendProtoMap(dst []byte, f *protoField, c *cell, i int) []byte {
	from, to := e.listSpan(c, i)
	if from == to {
		return dst
	}
	s := &e.order
	text, first, replaced := len(s.text), len(s.nodes), len(s.replaced)
	e.collectProtoKeys(f, &c.children[0], from, to)
	s.arrange()
	dst = e.checkProtoReplaced(dst, f, &c.children[1], replaced)
	last := len(s.nodes)
	for k := first; k < last && !e.stop(dst); k++ {
		n := &s.nodes[k]
		dst = f.tag.append(dst)
		dst = append(dst, 0)
		mark := len(dst)
		if f.isText {
			dst = appendSizedBytes(dst, f.keyTag, s.text[n.from:n.to], 0)
		} else {
			dst = e.appendProtoElement(f.keyTag.append(dst), f.key, &c.children[0], n.last)
		}
		dst = f.mappedTag.append(dst)
		dst = e.appendProtoElement(dst, &f.value, &c.children[1], n.last)
		dst = closeLength(dst, mark)
	}
	s.text, s.nodes, s.replaced = s.text[:text], s.nodes[:first], s.replaced[:replaced]
	return dst
}

// collectProtoKeys puts the keys of the entries into the HashMap. A null key is the null literal or zero.
func (e *Encoder) collectProtoKeys(f *protoField, keys *cell, from, to int) {
	s := &e.order
	s.start(defaultHashTable)
	for k := from; k < to && !e.stop(s.text); k++ {
		if f.isText {
			at := len(s.text)
			if keys.isNull(k) {
				literal, _ := protowire.ConsumeBytes(f.key.null)
				s.text = append(s.text, literal...)
			} else {
				s.text = appendText(s.text, keys.bytes(k))
			}
			s.putText(at, k)
			continue
		}
		number := int64(0)
		if !keys.isNull(k) {
			number = f.key.number(keys, k)
		}
		hash := uint32(number)
		switch {
		case f.key.op == protoBool:
			hash = boolHash(number != 0)
		case f.hashesWide:
			hash = longHash(number)
		}
		s.putNumber(number, hash, k)
	}
}

// number returns element i of a BOOLEAN, INT or BIGINT.
func (v *protoValue) number(c *cell, i int) int64 {
	switch v.op {
	case protoBool:
		if c.bit(i) {
			return 1
		}
		return 0
	case protoVarint64, protoSint64, protoFixed64:
		return int64(c.uint64(i))
	}
	return int64(int32(c.uint32(i)))
}

// checkProtoReplaced converts the values of the replaced entries from index first on and throws the bytes away. Flink converts every
// value before it replaces it, so an error in one that nobody sees fails the row too.
func (e *Encoder) checkProtoReplaced(dst []byte, f *protoField, values *cell, first int) []byte {
	if f.value.message == nil {
		return dst
	}
	start, last := len(dst), len(e.order.replaced)
	for k := first; k < last && !e.stop(dst); k++ {
		// A null became the default instance, which nobody has built.
		if entry := e.order.replaced[k]; !values.isNull(entry) {
			dst = e.discard(e.appendProtoValue(dst, &f.value, values, entry), start)
		}
	}
	return dst
}
