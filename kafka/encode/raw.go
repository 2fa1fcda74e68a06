package encode

import (
	"fmt"

	"penstock.dev/penstock/columnar"
)

// RawOptions are the options of Flink's raw format that change bytes. The charset is UTF-8, whose strings are copied unread.
type RawOptions struct {
	// LittleEndian is 'raw.endianness' = 'little-endian'.
	LittleEndian bool
}

var rawScalars = map[columnar.Kind]op{
	columnar.Boolean:   opBool,
	columnar.TinyInt:   opFixed,
	columnar.SmallInt:  opFixed,
	columnar.Integer:   opFixed,
	columnar.BigInt:    opFixed,
	columnar.Float:     opFixed,
	columnar.Double:    opFixed,
	columnar.Char:      opBinary,
	columnar.VarChar:   opBinary,
	columnar.Binary:    opBinary,
	columnar.VarBinary: opBinary,
}

// CompileRaw compiles a ROW of one column for Flink's raw format (RawFormatSerializationSchema): the value of the column is the
// value of the record, and NULL is a null value. Errors are as those of CompileJSON.
func CompileRaw(row *columnar.Type, opts RawOptions) (*Plan, error) {
	noPrefix := func(int, string, int) []byte { return nil }
	c := compiler{format: "raw", scalars: rawScalars, prefix: noPrefix}
	columns, err := c.columns(row)
	if err != nil {
		return nil, err
	}
	if len(columns) != 1 {
		return nil, fmt.Errorf("raw: The 'raw' format only supports single physical column; the table has %d: "+
			"drop the others, or use another format", len(columns))
	}
	return &Plan{format: "raw", layout: layoutRaw, columns: columns, littleEndian: opts.LittleEndian}, nil
}

// appendRaw writes the one column of row i, or notes a null value.
func (e *Encoder) appendRaw(dst []byte, i int) []byte {
	c := &e.cells[0]
	if c.isNull(i) {
		e.nullValue = true
		return dst
	}
	switch c.op {
	case opBinary:
		return append(dst, c.bytes(i)...)
	case opBool:
		if c.bit(i) {
			return append(dst, 1)
		}
		return append(dst, 0)
	}
	width := valueWidths[c.kind]
	value := c.values[i*width : i*width+width]
	if e.plan.littleEndian {
		return append(dst, value...)
	}
	for k := width - 1; k >= 0; k-- {
		dst = append(dst, value[k])
	}
	return dst
}
