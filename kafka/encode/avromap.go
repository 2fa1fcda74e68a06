package encode

// appendAvroMap writes map i, a MAP or a MULTISET: one block of distinct keys in the order of the HashMap into which Flink puts the
// entries (RowDataToAvroConverters), which it makes for their number.
func (e *Encoder) appendAvroMap(dst []byte, c *cell, i int) []byte {
	from, to := e.listSpan(c, i)
	if from == to {
		return append(dst, 0)
	}
	s := &e.order
	text, first, replaced := len(s.text), len(s.nodes), len(s.replaced)
	e.collectAvroKeys(c, from, to)
	for k := replaced; k < len(s.replaced) && e.err == nil; k++ {
		e.checkAvroKeys(&c.children[1], s.replaced[k])
	}
	last := len(s.nodes)
	dst = appendZigzag(dst, int64(last-first))
	for k := first; k < last && !e.stop(dst); k++ {
		key := s.nodes[k]
		dst = appendSizedBytes(dst, mark{}, s.text[key.from:key.to], avroSize)
		dst = e.appendAvroField(dst, &c.children[1], key.last)
	}
	s.text, s.nodes, s.replaced = s.text[:text], s.nodes[:first], s.replaced[:replaced]
	return append(dst, 0)
}

// collectAvroKeys pushes the distinct keys of the entries onto the stack, in the order of the walk.
func (e *Encoder) collectAvroKeys(c *cell, from, to int) {
	s := &e.order
	s.start(hashTableFor(to - from))
	for k := from; k < to; k++ {
		if c.children[0].isNull(k) {
			e.failAvroKey(c)
			return
		}
		at := len(s.text)
		s.text = appendText(s.text, c.children[0].bytes(k))
		if e.stop(s.text) {
			return
		}
		s.putText(at, k)
	}
	s.arrange()
}

// checkAvroKeys looks for null keys in element i of a value that nobody sees because a later entry has its key: Flink converts it all
// the same. Other faults of such a value do not matter, since they show only when it is written.
func (e *Encoder) checkAvroKeys(c *cell, i int) {
	// Lists of a foreign batch may overlap, so that the work is not bounded by its size.
	if e.order.checked++; e.order.checked > e.MaxBytes {
		e.fail(e.tooLarge())
	}
	if e.err != nil || c.isNull(i) {
		return
	}
	switch c.op {
	case opRow:
		for k := range c.children {
			e.checkAvroKeys(&c.children[k], i)
		}
	case opArray, opMap:
		values := &c.children[len(c.children)-1]
		from, to := e.listSpan(c, i)
		for k := from; k < to && e.err == nil; k++ {
			if c.op == opMap && c.children[0].isNull(k) {
				e.failAvroKey(c)
				return
			}
			e.checkAvroKeys(values, k)
		}
	}
}

func (e *Encoder) failAvroKey(c *cell) {
	e.failRow(c, "A map has a null key, which avro cannot write. Filter such rows, or give the key another value.")
}
