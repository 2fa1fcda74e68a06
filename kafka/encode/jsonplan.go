package encode

import (
	"maps"

	"penstock.dev/penstock/columnar"
)

// jsonScalars is without NULL: the converter of Flink 2.2 knows it, but RowData.createFieldGetter refuses it.
var jsonScalars = map[columnar.Kind]op{
	columnar.Boolean:           opBool,
	columnar.TinyInt:           opInt8,
	columnar.SmallInt:          opInt16,
	columnar.Integer:           opInt32,
	columnar.BigInt:            opInt64,
	columnar.Char:              opString,
	columnar.VarChar:           opString,
	columnar.Binary:            opBinary,
	columnar.VarBinary:         opBinary,
	columnar.Date:              opDate,
	columnar.Time:              opTime,
	columnar.Timestamp:         opTimestamp,
	columnar.TimestampLTZ:      opTimestampUTC,
	columnar.IntervalYearMonth: opInt32,
	columnar.IntervalDayTime:   opInt64,
}

// jsonScalars23 is for Flink 2.3, where TIME has a fraction.
var jsonScalars23 = func() map[columnar.Kind]op {
	scalars := maps.Clone(jsonScalars)
	scalars[columnar.Time] = opTimeMillis
	return scalars
}()

var jsonComposite = []columnar.Kind{
	columnar.Float, columnar.Double, columnar.Decimal, columnar.Array, columnar.Map, columnar.Multiset, columnar.Row,
}

// CompileJSON compiles a row type for Flink's json format. It returns an error for what that format refuses, and for what
// cannot be reproduced: then the caller falls back to the stock sink and shows the error as the reason.
func CompileJSON(row *columnar.Type, opts JSONOptions) (*Plan, error) {
	return compileJSON("json", row, opts)
}

// compileJSON compiles row images; format has the prefix of the options.
func compileJSON(format string, row *columnar.Type, opts JSONOptions) (*Plan, error) {
	if err := opts.validate(format); err != nil {
		return nil, err
	}
	c := compiler{
		format: format, scalars: jsonScalars, composite: jsonComposite, prefix: memberPrefix,
		floats: opts.Floats, plainDecimals: opts.PlainDecimals, mergeRows: opts.IgnoreNullFields,
	}
	if opts.Line >= Line23 {
		c.scalars = jsonScalars23
	}
	columns, err := c.columns(row)
	if err != nil {
		return nil, err
	}
	if err := wantLine(opts.Line, format, columnar.Time, columns); err != nil {
		return nil, err
	}
	p := &Plan{format: format, columns: columns, ignoreNulls: opts.IgnoreNullFields, separator: ' ', nullKeys: opts.NullKeys}
	if opts.Timestamps == TimestampISO8601 {
		p.separator = 'T'
	}
	p.nullKey = append(appendEscaped([]byte{'"'}, []byte(opts.NullKeyLiteral)), '"')
	return p, nil
}

// memberPrefix is what stands before the value of an object's member.
func memberPrefix(_ int, name string, _ int) []byte {
	prefix := appendEscaped([]byte(`,"`), []byte(name))
	return append(prefix, '"', ':')
}
