package config

import (
	"errors"
	"fmt"
	"math"
	"os"
	"reflect"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
)

// Fault is one thing that is wrong with a configuration.
type Fault struct {
	// Key is the dotted path, for example "arena.segment".
	Key string
	// Value as the user wrote it; empty when there is none.
	Value string
	// Problem says what is wrong and what to do.
	Problem string
}

// Faults is every fault of a configuration. It is an error when it is not empty.
type Faults []Fault

// Error lists every fault on a line of its own.
func (f Faults) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "the configuration has %d fault(s):", len(f))
	for _, x := range f {
		b.WriteString("\n  " + x.Key)
		if x.Value != "" {
			b.WriteString(" = " + x.Value)
		}
		b.WriteString(": " + x.Problem)
	}
	return b.String()
}

func (f *Faults) add(key string, value any, problem string, args ...any) {
	text := ""
	switch v := value.(type) {
	case nil:
	case string:
		text = fmt.Sprintf("%q", v)
	case fmt.Stringer:
		text = fmt.Sprintf("%q", v)
	default:
		text = fmt.Sprint(v)
	}
	*f = append(*f, Fault{Key: key, Value: text, Problem: fmt.Sprintf(problem, args...)})
}

func (f Faults) err() error {
	if len(f) == 0 {
		return nil
	}
	return f
}

// Load reads the file at path over the defaults, without Check: flags may still change values. An empty path gives the
// defaults.
func Load(path string) (*Config, error) {
	if path == "" {
		return Default(), nil
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("--config: %w", err)
	}
	c, err := Parse(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return c, nil
}

// Parse reads TOML over the defaults. Unknown keys and values of a wrong type are reported together as Faults; a text that
// is not TOML at all is reported with its line.
func Parse(text []byte) (*Config, error) {
	raw := map[string]any{}
	if err := toml.Unmarshal(text, &raw); err != nil {
		var bad *toml.DecodeError
		if errors.As(err, &bad) {
			line, column := bad.Position()
			return nil, fmt.Errorf("line %d, column %d: %w", line, column, err)
		}
		return nil, err
	}
	c := Default()
	var faults Faults
	decodeTable(reflect.ValueOf(c).Elem(), raw, "", &faults)
	return c, faults.err()
}

// decodeTable sets the fields of a struct from a table. It walks by reflection instead of decoding straight into the struct
// because a decoder stops at the first value of a wrong type.
func decodeTable(dst reflect.Value, raw map[string]any, path string, faults *Faults) {
	fields := map[string]reflect.Value{}
	for i := range dst.NumField() {
		fields[dst.Type().Field(i).Tag.Get("toml")] = dst.Field(i)
	}
	for _, name := range sortedKeys(raw) {
		key := path + name
		field, ok := fields[name]
		if !ok {
			faults.add(key, nil, "unknown key; remove it or correct its name (known here: %s)",
				strings.Join(sortedKeys(fields), ", "))
			continue
		}
		if field.Kind() == reflect.Struct {
			table, ok := raw[name].(map[string]any)
			if !ok {
				faults.add(key, raw[name], "must be a table; write [%s]", key)
				continue
			}
			decodeTable(field, table, key+".", faults)
			continue
		}
		if err := decodeValue(field, raw[name]); err != nil {
			faults.add(key, raw[name], "%s", err)
		}
	}
}

func decodeValue(dst reflect.Value, raw any) error {
	text, isText := raw.(string)
	if number, ok := raw.(int64); ok && dst.Type() == reflect.TypeFor[ByteSize]() {
		text, isText = fmt.Sprint(number), true
	}
	switch p := dst.Addr().Interface().(type) {
	case *string:
		if !isText {
			return errors.New("must be a string in quotes")
		}
		*p = text
	case *int64:
		n, ok := raw.(int64)
		if !ok {
			return errors.New("must be a whole number without quotes")
		}
		*p = n
	case *[]uint32:
		return decodeIDs(p, raw)
	case *ByteSize:
		return parseInto(p, text, isText, ParseByteSize)
	case *Duration:
		return parseInto(p, text, isText, ParseDuration)
	case *FileMode:
		return parseInto(p, text, isText, ParseFileMode)
	default:
		return fmt.Errorf("has a type that the reader does not know: %s", dst.Type())
	}
	return nil
}

// parseInto lets the parser of T judge the text; a value that is no string becomes "", which every parser refuses with
// an example of what to write.
func parseInto[T any](p *T, text string, isText bool, parse func(string) (T, error)) error {
	if !isText {
		text = ""
	}
	v, err := parse(text)
	if err != nil {
		return err
	}
	*p = v
	return nil
}

func decodeIDs(p *[]uint32, raw any) error {
	const want = "must be a list of numeric ids, for example [1000, 9999]"
	list, ok := raw.([]any)
	if !ok {
		return errors.New(want)
	}
	var ids []uint32
	for _, e := range list {
		n, ok := e.(int64)
		if !ok || n < 0 || n > math.MaxUint32 {
			return errors.New(want)
		}
		ids = append(ids, uint32(n))
	}
	*p = ids
	return nil
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
