package encode

import (
	"errors"
	"fmt"

	"penstock.dev/penstock/columnar"
)

// AvroOptions choose among Flink's formats in avro's binary encoding. The zero value is avro.
type AvroOptions struct {
	// Registry is avro-confluent: a zero byte and the id of the schema stand before each record; see Encoder.SetSchemaID.
	Registry bool
	// Debezium is debezium-avro-confluent: before, after and op, as in debezium-json. It includes Registry.
	Debezium bool
	// LocalTimestamps is 'avro.timestamp_mapping.legacy' = 'false': outside of collections TIMESTAMP_LTZ and up to six digits are
	// allowed. Both mappings write milliseconds, but with this one a TIMESTAMP goes through LocalDateTime.
	LocalTimestamps bool
}

func (o *AvroOptions) format() string {
	switch {
	case o.Debezium:
		return "debezium-avro-confluent"
	case o.Registry:
		return "avro-confluent"
	}
	return "avro"
}

func (o *AvroOptions) validate() error {
	if o.Debezium && !o.Registry {
		return errors.New("avro: debezium without registry: Flink has this envelope only as debezium-avro-confluent; set both")
	}
	if o.LocalTimestamps && o.Registry {
		return fmt.Errorf("%s: timestamp_mapping.legacy = false: only avro has this option; leave it away", o.format())
	}
	return nil
}

// avroScalars has no intervals, which AvroSchemaConverter refuses, and no NULL, which RowData.createFieldGetter refuses.
var avroScalars = map[columnar.Kind]op{
	columnar.Boolean:      opBool,
	columnar.TinyInt:      opInt8,
	columnar.SmallInt:     opInt16,
	columnar.Integer:      opInt32,
	columnar.BigInt:       opInt64,
	columnar.Float:        opFixed,
	columnar.Double:       opFixed,
	columnar.Char:         opString,
	columnar.VarChar:      opString,
	columnar.Binary:       opBinary,
	columnar.VarBinary:    opBinary,
	columnar.Date:         opInt32,
	columnar.Time:         opInt32,
	columnar.Timestamp:    opTimestamp,
	columnar.TimestampLTZ: opTimestampUTC,
}

var avroComposite = []columnar.Kind{columnar.Decimal, columnar.Array, columnar.Map, columnar.Multiset, columnar.Row}

// avroPlan is what the avro formats add to a Plan.
type avroPlan struct {
	registry, debezium, localTimestamps bool
}

// avroImages are the bytes around a row in the envelope: the envelope is a nullable record of a nullable row before, a nullable row
// after and a nullable string (DebeziumAvroSerializationSchema.createDebeziumAvroRowType).
var avroImages = images{
	added:   newImage("\x02\x00\x02", "\x02\x02c"),
	removed: newImage("\x02\x02", "\x00\x02\x02d"),
}

// CompileAvro compiles a row type for Flink's formats in avro's binary encoding, with the schema that Flink derives from the type
// (AvroSchemaConverter). Errors are as those of CompileJSON.
func CompileAvro(row *columnar.Type, opts AvroOptions) (*Plan, error) {
	if err := opts.validate(); err != nil {
		return nil, err
	}
	format := opts.format()
	if row != nil {
		if err := checkAvroChildren(row, "", !opts.LocalTimestamps, 0); err != nil {
			return nil, fmt.Errorf("%s: %w", format, err)
		}
	}
	noPrefix := func(int, string, int) []byte { return nil }
	c := compiler{format: format, scalars: avroScalars, composite: avroComposite, prefix: noPrefix, plainDecimals: true}
	columns, err := c.columns(row)
	if err != nil {
		return nil, err
	}
	p := &Plan{format: format, layout: layoutAvro, columns: columns, images: avroImages}
	p.avro = avroPlan{opts.Registry, opts.Debezium, opts.LocalTimestamps}
	return p, nil
}

// checkAvroChildren holds the types inside of t to what AvroSchemaConverter adds to the rules of the compiler. legacy is the mapping
// of timestamps, to which everything inside of a collection falls back.
func checkAvroChildren(t *columnar.Type, path string, legacy bool, depth int) error {
	if depth > maxDepth {
		// The compiler has the words for it.
		return nil
	}
	for i, child := range t.Children {
		childPath := path + "{}"
		switch {
		case t.Kind == columnar.Row && i < len(t.FieldNames) && path == "":
			childPath = t.FieldNames[i]
		case t.Kind == columnar.Row && i < len(t.FieldNames):
			childPath = path + "." + t.FieldNames[i]
		case t.Kind == columnar.Array:
			childPath = path + "[]"
		}
		if child == nil {
			continue
		}
		if err := checkAvro(child, childPath, legacy); err != nil {
			return err
		}
		if err := checkAvroChildren(child, childPath, legacy || child.Kind != columnar.Row, depth+1); err != nil {
			return err
		}
	}
	return nil
}

func checkAvro(t *columnar.Type, path string, legacy bool) error {
	digits := 6
	if legacy {
		digits = 3
	}
	switch t.Kind {
	case columnar.Time:
		if t.Precision > 3 {
			return fmt.Errorf("column %q: Avro does not support TIME type with precision: %d, it has at most 3 digits", path, t.Precision)
		}
	case columnar.Timestamp, columnar.TimestampLTZ:
		if legacy && t.Kind == columnar.TimestampLTZ {
			return fmt.Errorf("column %q: avro has no TIMESTAMP_LTZ inside of collections nor with the legacy mapping of timestamps: "+
				"cast it, or set 'avro.timestamp_mapping.legacy' = 'false'", path)
		}
		if t.Precision > digits {
			return fmt.Errorf("column %q: Avro does not support TIMESTAMP type with precision: %d, here it has at most %d digits",
				path, t.Precision, digits)
		}
	case columnar.Map, columnar.Multiset:
		if len(t.Children) > 0 && t.Children[0] != nil && t.Children[0].Kind != columnar.Char && t.Children[0].Kind != columnar.VarChar {
			return fmt.Errorf("column %q: Avro format doesn't support non-string as key type of map: "+
				"the key (the element of a MULTISET) is %v and must be CHAR or VARCHAR", path, t.Children[0].Kind)
		}
	case columnar.Row:
		if len(t.Children) == 0 {
			// It takes no bytes, so that nothing would bound the work for an ARRAY of it.
			return fmt.Errorf("column %q: a ROW without fields is not native in avro: drop the column", path)
		}
	}
	return nil
}
