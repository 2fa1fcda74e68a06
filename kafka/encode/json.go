package encode

import (
	"encoding/base64"
	"encoding/binary"
)

// appendRow writes row i of a ROW's columns as an object.
func (e *Encoder) appendRow(dst []byte, cells []cell, i int) []byte {
	start := len(dst)
	for k := range cells {
		c := &cells[k]
		if c.isNull(i) {
			if e.skipsNull(c) {
				continue
			}
			dst = c.lead.append(dst)
			dst = append(dst, "null"...)
			continue
		}
		dst = c.lead.append(dst)
		dst = e.appendValue(dst, c, i)
	}
	return closeObject(dst, start)
}

// skipsNull reports whether a null field is left out; in a NOT NULL column it is an error.
func (e *Encoder) skipsNull(c *cell) bool {
	if !c.nullable {
		e.nullInNotNull(c)
	}
	return e.plan.ignoreNulls
}

func (e *Encoder) nullInNotNull(c *cell) {
	e.failRow(c, "Column is NOT NULL, however, a null value is being written into it. "+
		"Declare the column as nullable, or filter such rows with 'table.exec.sink.not-null-enforcer'='DROP'.")
}

// closeObject ends an object whose members, from start on, each begin with a comma.
func closeObject(dst []byte, start int) []byte {
	if len(dst) == start {
		return append(dst, '{', '}')
	}
	dst[start] = '{'
	return append(dst, '}')
}

// appendNullable writes element i of an array or a map value.
func (e *Encoder) appendNullable(dst []byte, c *cell, i int) []byte {
	if c.isNull(i) {
		if !c.nullable {
			e.nullInNotNull(c)
		}
		return append(dst, "null"...)
	}
	return e.appendValue(dst, c, i)
}

// appendValue writes element i, which is not null.
func (e *Encoder) appendValue(dst []byte, c *cell, i int) []byte {
	switch c.op {
	case opString:
		dst = append(dst, '"')
		dst = appendEscaped(dst, c.bytes(i))
		return append(dst, '"')
	case opInt64:
		return appendInt(dst, int64(binary.LittleEndian.Uint64(c.values[i*8:])))
	case opInt32:
		return appendInt(dst, int64(int32(binary.LittleEndian.Uint32(c.values[i*4:]))))
	case opTimestamp, opTimestampUTC:
		dst = append(dst, '"')
		dst = e.appendTimestamp(dst, c, i, c.op == opTimestampUTC)
		return append(dst, '"')
	case opDate:
		dst = append(dst, '"')
		dst = c.appendDateOf(dst, i)
		return append(dst, '"')
	case opTime:
		dst = append(dst, '"')
		dst = e.appendSeconds(dst, c, i)
		return append(dst, '"')
	case opTimeMillis:
		dst = append(dst, '"')
		dst = e.appendMillis(dst, c, i)
		return append(dst, '"')
	case opBinary:
		dst = append(dst, '"')
		dst = base64.StdEncoding.AppendEncode(dst, c.bytes(i))
		return append(dst, '"')
	case opRow:
		return e.appendRow(dst, c.children, i)
	case opArray:
		return e.appendArray(dst, c, i)
	case opMap, opMergeMap:
		return e.appendMap(dst, c, i)
	case opFloatLegacy, opFloatShortest, opDoubleLegacy, opDoubleShortest:
		start := len(dst)
		return quoteNonFinite(c.appendFloating(dst, i), start)
	}
	return c.appendScalar(dst, i)
}

// quoteNonFinite puts quotes around the number from start on when it is NaN or an infinity, as Jackson's JSON generator does;
// they are the only ones whose text ends in a letter.
func quoteNonFinite(dst []byte, start int) []byte {
	if dst[len(dst)-1] <= '9' {
		return dst
	}
	dst = append(dst, '"', '"')
	copy(dst[start+1:], dst[start:len(dst)-2])
	dst[start] = '"'
	return dst
}

func (e *Encoder) appendArray(dst []byte, c *cell, i int) []byte {
	from, to := e.listSpan(c, i)
	element := &c.children[0]
	dst = append(dst, '[')
	for k := from; k < to && !e.stop(dst); k++ {
		if k > from {
			dst = append(dst, ',')
		}
		dst = e.appendNullable(dst, element, k)
	}
	return append(dst, ']')
}

// listSpan returns the elements of list i; a list outside of its children is a bad batch.
func (e *Encoder) listSpan(c *cell, i int) (from, to int) {
	from, to, ok := c.listSpan(i)
	if !ok {
		e.fail(badBatchf("row %d, column %q: elements %d to %d of %d", e.row, c.path, from, to, c.listLength()))
		return 0, 0
	}
	return from, to
}
