package encode

import (
	"fmt"
	"unicode/utf8"

	"penstock.dev/penstock/columnar"
)

// CSVOptions are the options of Flink's csv format that change bytes, and the spelling of floats. Characters are Unicode code
// points of one UTF-16 unit, already unescaped; 0 is not set.
type CSVOptions struct {
	// FieldDelimiter is 'csv.field-delimiter', a comma when not set.
	FieldDelimiter rune
	// QuoteCharacter is 'csv.quote-character', a double quote when not set.
	QuoteCharacter rune
	// QuotesDisabled is 'csv.disable-quote-character'; it excludes QuoteCharacter.
	QuotesDisabled bool
	// ArrayElementDelimiter is 'csv.array-element-delimiter', a semicolon when not set.
	ArrayElementDelimiter rune
	// EscapeCharacter is 'csv.escape-character', none when not set.
	EscapeCharacter rune
	// NullLiteral is 'csv.null-literal', written as it is.
	NullLiteral string
	// ScientificDecimals is an explicit 'csv.write-bigdecimal-in-scientific-notation' = 'true'; Flink's documented default is
	// not in effect.
	ScientificDecimals bool
	// Line decides how decimals are written.
	Line   FlinkLine
	Floats FloatSpelling
}

func (o *CSVOptions) validate() error {
	for _, c := range []struct {
		option string
		value  rune
	}{
		{"field-delimiter", o.FieldDelimiter}, {"quote-character", o.QuoteCharacter},
		{"array-element-delimiter", o.ArrayElementDelimiter}, {"escape-character", o.EscapeCharacter},
	} {
		if c.value != 0 && (!utf8.ValidRune(c.value) || c.value > 0xFFFF) {
			return fmt.Errorf("csv.%s: U+%04X is not a character: use one below U+10000 that is no surrogate", c.option, uint32(c.value))
		}
	}
	if o.QuotesDisabled && o.QuoteCharacter != 0 {
		return fmt.Errorf("csv.quote-character = %q with csv.disable-quote-character = true: "+
			"Format cannot define a quote character and disabled quote character at the same time; set one of them", o.QuoteCharacter)
	}
	if !utf8.ValidString(o.NullLiteral) {
		return fmt.Errorf("csv.null-literal = %q is not valid UTF-8", o.NullLiteral)
	}
	if err := o.Line.validate(); err != nil {
		return err
	}
	return o.Floats.validate()
}

// csvScalars has no intervals: CsvRowSchemaConverter refuses them, although RowDataToCsvConverters would write them.
var csvScalars = map[columnar.Kind]op{
	columnar.Boolean:      opBool,
	columnar.TinyInt:      opInt8,
	columnar.SmallInt:     opInt16,
	columnar.Integer:      opInt32,
	columnar.BigInt:       opInt64,
	columnar.Char:         opString,
	columnar.VarChar:      opString,
	columnar.Binary:       opBinary,
	columnar.VarBinary:    opBinary,
	columnar.Date:         opDate,
	columnar.Time:         opTimeMillis,
	columnar.Timestamp:    opTimestamp,
	columnar.TimestampLTZ: opTimestampUTC,
	columnar.Null:         opNull,
}

var csvComposite = []columnar.Kind{columnar.Float, columnar.Double, columnar.Decimal, columnar.Array, columnar.Row}

// csvPlan is what the csv format adds to a Plan.
type csvPlan struct {
	null           []byte
	arrayDelimiter []byte
	quoting        csvQuoting
	// quoteDecimals says that the text of a decimal is looked at like any text before it is written.
	quoteDecimals bool
}

// CompileCSV compiles a row type for Flink's csv format. Errors are as those of CompileJSON.
func CompileCSV(row *columnar.Type, opts CSVOptions) (*Plan, error) {
	if err := opts.validate(); err != nil {
		return nil, err
	}
	delimiter := orDefault(opts.FieldDelimiter, ',')
	f := &csvPlan{
		null:           []byte(opts.NullLiteral),
		arrayDelimiter: utf8.AppendRune(nil, orDefault(opts.ArrayElementDelimiter, ';')),
		// Up to 2.15 Jackson's CsvGenerator hands a BigDecimal to the encoder as a String, and ignores WRITE_BIGDECIMAL_AS_PLAIN in an
		// array.
		quoteDecimals: opts.Line == Line20,
	}
	if !opts.QuotesDisabled {
		f.quoting = newCSVQuoting(delimiter, orDefault(opts.QuoteCharacter, '"'), opts.EscapeCharacter)
	}
	c := compiler{
		format: "csv", scalars: csvScalars, composite: csvComposite, flat: true,
		floats: opts.Floats, plainDecimals: !opts.ScientificDecimals, nestedUnstripped: opts.Line == Line20,
		prefix: func(i int, _ string, depth int) []byte {
			switch {
			case i == 0:
				return nil
			case depth == 1:
				return utf8.AppendRune(nil, delimiter)
			}
			return f.arrayDelimiter
		},
	}
	columns, err := c.columns(row)
	if err != nil {
		return nil, err
	}
	if err := wantLine(opts.Line, "csv", columnar.Decimal, columns); err != nil {
		return nil, err
	}
	return &Plan{format: "csv", layout: layoutCSV, columns: columns, separator: ' ', localUTC: true, csv: f}, nil
}

func orDefault(c, otherwise rune) rune {
	if c == 0 {
		return otherwise
	}
	return c
}
