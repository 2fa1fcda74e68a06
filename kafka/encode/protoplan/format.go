package protoplan

import (
	"fmt"

	"penstock.dev/penstock/columnar"
	"penstock.dev/penstock/kafka/encode"
	pb "penstock.dev/penstock/proto/gen/penstock/v1"
)

// Plan compiles the one format that is set in f for rows of type row. The dialect is that of the client's Hello: the line of its
// Flink (encode.LineOf) and the spelling that the probe of its JVM proved (encode.SpellingFromProbe).
func Plan(row *columnar.Type, f *pb.Format, dialect encode.Dialect) (*encode.Plan, error) {
	switch {
	case f.GetJson() != nil:
		opts, err := JSONOptions(f.GetJson(), dialect)
		if err != nil {
			return nil, err
		}
		return encode.CompileJSON(row, opts)
	case f.GetChangelogJson() != nil:
		// Without json every option is Flink's default.
		opts, err := JSONOptions(f.GetChangelogJson().GetJson(), dialect)
		if err != nil {
			return nil, err
		}
		return encode.CompileChangelog(envelope(f.GetChangelogJson().GetEnvelope()), row, opts)
	case f.GetCsv() != nil:
		opts, err := CSVOptions(f.GetCsv(), dialect)
		if err != nil {
			return nil, err
		}
		return encode.CompileCSV(row, opts)
	case f.GetRaw() != nil:
		return encode.CompileRaw(row, encode.RawOptions{LittleEndian: f.GetRaw().GetLittleEndian()})
	case f.GetProtobuf() != nil:
		// The serializer of older lines runs on another protobuf-java, with which nothing has been compared.
		if dialect.Line < encode.Line22 {
			return nil, fmt.Errorf("protobuf: known from Flink 2.2 on and not with Flink %v", dialect.Line)
		}
		opts, err := ProtobufOptions(f.GetProtobuf())
		if err != nil {
			return nil, err
		}
		return encode.CompileProtobuf(row, opts)
	case f.GetAvro() != nil:
		return encode.CompileAvro(row, avroOptions(f.GetAvro()))
	}
	return nil, fmt.Errorf("value_format or key_format: none that this daemon knows is set: use json, changelog_json, csv, raw, avro or " +
		"protobuf, or a daemon of the client's version")
}

// envelope converts the changelog format; one that is not known becomes EnvelopeUnknown, which the compiler refuses.
func envelope(e pb.ChangelogJsonFormat_Envelope) encode.Envelope {
	switch e {
	case pb.ChangelogJsonFormat_DEBEZIUM:
		return encode.EnvelopeDebezium
	case pb.ChangelogJsonFormat_CANAL:
		return encode.EnvelopeCanal
	case pb.ChangelogJsonFormat_MAXWELL:
		return encode.EnvelopeMaxwell
	case pb.ChangelogJsonFormat_OGG:
		return encode.EnvelopeOgg
	}
	return encode.EnvelopeUnknown
}

// CSVOptions converts the options of the csv format. A character that is not set is Flink's default.
func CSVOptions(c *pb.CsvFormat, dialect encode.Dialect) (encode.CSVOptions, error) {
	opts := encode.CSVOptions{
		QuotesDisabled:     c.GetQuotesDisabled(),
		NullLiteral:        c.GetNullLiteral(),
		ScientificDecimals: c.GetDecimalScientific(),
		Line:               dialect.Line,
		Floats:             dialect.Floats,
	}
	for _, char := range []struct {
		option string
		value  uint32
		to     *rune
	}{
		{"field-delimiter", c.GetFieldDelimiter(), &opts.FieldDelimiter},
		{"quote-character", c.GetQuoteCharacter(), &opts.QuoteCharacter},
		{"array-element-delimiter", c.GetArrayElementDelimiter(), &opts.ArrayElementDelimiter},
		{"escape-character", c.GetEscapeCharacter(), &opts.EscapeCharacter},
	} {
		// The compiler judges the rest; this keeps a large number from becoming a small or a negative one.
		if char.value > 0xFFFF {
			return opts, fmt.Errorf("csv.%s: U+%04X is not one UTF-16 unit: use a character below U+10000", char.option, char.value)
		}
		*char.to = rune(char.value)
	}
	return opts, nil
}

// JSONOptions converts the options of the json format. An unspecified choice is Flink's default.
func JSONOptions(j *pb.JsonFormat, dialect encode.Dialect) (encode.JSONOptions, error) {
	opts := encode.JSONOptions{
		NullKeyLiteral:   j.GetMapNullKeyLiteral(),
		PlainDecimals:    j.GetEncodeDecimalAsPlainNumber(),
		IgnoreNullFields: j.GetEncodeIgnoreNullFields(),
		Line:             dialect.Line,
		Floats:           dialect.Floats,
	}
	switch v := j.GetTimestampFormat(); v {
	case pb.JsonFormat_TIMESTAMP_FORMAT_UNSPECIFIED, pb.JsonFormat_SQL:
		opts.Timestamps = encode.TimestampSQL
	case pb.JsonFormat_ISO_8601:
		opts.Timestamps = encode.TimestampISO8601
	default:
		return opts, fmt.Errorf("json.timestamp-format.standard: unknown value %d: use SQL or ISO_8601", v)
	}
	switch v := j.GetMapNullKeyMode(); v {
	case pb.JsonFormat_MAP_NULL_KEY_MODE_UNSPECIFIED, pb.JsonFormat_FAIL:
		opts.NullKeys = encode.NullKeyFail
	case pb.JsonFormat_DROP:
		opts.NullKeys = encode.NullKeyDrop
	case pb.JsonFormat_LITERAL:
		opts.NullKeys = encode.NullKeyLiteral
	default:
		return opts, fmt.Errorf("json.map-null-key.mode: unknown value %d: use FAIL, DROP or LITERAL", v)
	}
	return opts, nil
}
