package encode

import "fmt"

// TimestampFormat is the option 'json.timestamp-format.standard'.
type TimestampFormat uint8

// The timestamp formats. The zero value is Flink's default.
const (
	// TimestampSQL puts a space between date and time.
	TimestampSQL TimestampFormat = iota
	// TimestampISO8601 puts a T between date and time.
	TimestampISO8601
)

// NullKeyMode is the option 'json.map-null-key.mode': what becomes of a map entry whose key is null.
type NullKeyMode uint8

// The null key modes. The zero value is Flink's default.
const (
	// NullKeyFail fails the row.
	NullKeyFail NullKeyMode = iota
	// NullKeyDrop leaves the entry out.
	NullKeyDrop
	// NullKeyLiteral writes JSONOptions.NullKeyLiteral as the key.
	NullKeyLiteral
)

// FloatSpelling says how the client's JVM spells FLOAT and DOUBLE; the text depends on its feature version, not on Flink.
type FloatSpelling uint8

// The spellings. The zero value is refused for schemas with FLOAT or DOUBLE: the JVM has to be known.
const (
	FloatsUnknown FloatSpelling = iota
	// FloatsLegacy is that of JDK 8 to 18.
	FloatsLegacy
	// FloatsShortest is that of JDK 19 and newer (JDK-4511638).
	FloatsShortest
)

// String names the spelling for logs and errors.
func (s FloatSpelling) String() string {
	switch s {
	case FloatsLegacy:
		return "JDK 8 to 18"
	case FloatsShortest:
		return "JDK 19 and newer"
	default:
		return "unknown"
	}
}

// SpellingForFeature returns the spelling that a JVM of a feature version (17, 21, ...) is expected to have. It is a first
// guess; SpellingFromProbe proves it.
func SpellingForFeature(feature int) (FloatSpelling, error) {
	switch {
	case feature >= 19:
		return FloatsShortest, nil
	case feature >= 8:
		return FloatsLegacy, nil
	default:
		return FloatsUnknown, fmt.Errorf("JVM feature version %d is not known: send Runtime.version().feature(), 8 or more", feature)
	}
}

// JSONOptions are the options of Flink's json format that change bytes, and the spelling of floats.
type JSONOptions struct {
	Timestamps TimestampFormat
	NullKeys   NullKeyMode
	// NullKeyLiteral is the key that NullKeyLiteral writes; it is escaped like any key and collides with an equal real one.
	NullKeyLiteral string
	// PlainDecimals is 'json.encode.decimal-as-plain-number'.
	PlainDecimals bool
	// IgnoreNullFields is 'json.encode.ignore-null-fields'.
	IgnoreNullFields bool
	// Line decides how TIME is written.
	Line   FlinkLine
	Floats FloatSpelling
}

// validate names options with the prefix of their format.
func (o *JSONOptions) validate(format string) error {
	if o.Timestamps > TimestampISO8601 {
		return fmt.Errorf("%s.timestamp-format.standard: unknown value %d: use SQL or ISO-8601", format, o.Timestamps)
	}
	if o.NullKeys > NullKeyLiteral {
		return fmt.Errorf("%s.map-null-key.mode: unknown value %d: use FAIL, DROP or LITERAL", format, o.NullKeys)
	}
	if err := o.Line.validate(); err != nil {
		return err
	}
	return o.Floats.validate()
}

func (s FloatSpelling) validate() error {
	if s > FloatsShortest {
		return fmt.Errorf("float spelling: unknown value %d: use that of JDK 8 to 18 or of JDK 19 and newer", uint8(s))
	}
	return nil
}
