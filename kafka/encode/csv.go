package encode

import (
	"encoding/base64"
	"encoding/binary"
)

// appendCSVRow writes row i as fields between delimiters, without a line end (CsvRowDataSerializationSchema). A null is the null
// literal also in a NOT NULL column: Flink's converters do not look at the nullability.
func (e *Encoder) appendCSVRow(dst []byte, i int) []byte {
	for k := range e.cells {
		c := &e.cells[k]
		dst = c.lead.append(dst)
		if c.isNull(i) {
			dst = append(dst, e.plan.csv.null...)
			continue
		}
		dst = e.appendCSVField(dst, c, i)
	}
	return dst
}

// appendCSVField writes element i of a column, which is not null. Numbers, booleans and null literals are never quoted.
func (e *Encoder) appendCSVField(dst []byte, c *cell, i int) []byte {
	q := &e.plan.csv.quoting
	switch c.op {
	case opString:
		return q.appendString(dst, c.bytes(i))
	case opInt64:
		return appendInt(dst, int64(binary.LittleEndian.Uint64(c.values[i*8:])))
	case opInt8, opInt16, opInt32, opBool, opDecimalPlain, opDecimalScientific:
		return c.appendScalar(dst, i)
	case opFloatLegacy, opFloatShortest, opDoubleLegacy, opDoubleShortest:
		return c.appendFloating(dst, i)
	case opNull:
		return append(dst, e.plan.csv.null...)
	case opTimestamp, opTimestampUTC:
		if q.timestamps {
			dst = q.mark.append(dst)
			dst = e.appendTimestamp(dst, c, i, c.op == opTimestampUTC)
			return q.mark.append(dst)
		}
	}
	start := len(dst)
	dst = e.appendCSVText(dst, c, i)
	if q.judge(dst[start:]) != quoted {
		return dst
	}
	e.joined = append(e.joined[:0], dst[start:]...)
	return q.appendQuoted(dst[:start], e.joined)
}

// appendCSVText writes element i, which is not null, without quotes.
func (e *Encoder) appendCSVText(dst []byte, c *cell, i int) []byte {
	switch c.op {
	case opString:
		return appendText(dst, c.bytes(i))
	case opBinary:
		return base64.StdEncoding.AppendEncode(dst, c.bytes(i))
	case opDate:
		return c.appendDateOf(dst, i)
	case opTimeMillis:
		return e.appendMillis(dst, c, i)
	case opTimestamp, opTimestampUTC:
		return e.appendTimestamp(dst, c, i, c.op == opTimestampUTC)
	case opFloatLegacy, opFloatShortest, opDoubleLegacy, opDoubleShortest:
		return c.appendFloating(dst, i)
	case opNull:
		return append(dst, e.plan.csv.null...)
	case opArray:
		return e.appendCSVArray(dst, c, i)
	case opRow:
		for k := range c.children {
			dst = c.children[k].lead.append(dst)
			dst = e.appendCSVElement(dst, &c.children[k], i)
		}
		return dst
	}
	return c.appendScalar(dst, i)
}

func (e *Encoder) appendCSVArray(dst []byte, c *cell, i int) []byte {
	from, to := e.listSpan(c, i)
	for k := from; k < to && !e.stop(dst); k++ {
		if k > from {
			dst = append(dst, e.plan.csv.arrayDelimiter...)
		}
		dst = e.appendCSVElement(dst, &c.children[0], k)
	}
	return dst
}

// appendCSVElement writes element i of an ARRAY, or a field of a ROW inside of a column.
func (e *Encoder) appendCSVElement(dst []byte, c *cell, i int) []byte {
	if c.isNull(i) {
		return append(dst, e.plan.csv.null...)
	}
	return e.appendCSVText(dst, c, i)
}
