package config

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// ByteSize is a number of bytes.
type ByteSize int64

// Units of ByteSize.
const (
	KiB ByteSize = 1 << 10
	MiB ByteSize = 1 << 20
	GiB ByteSize = 1 << 30
)

// sizeUnits from large to small; B last because every other unit ends with it.
var sizeUnits = []struct {
	suffix string
	bytes  ByteSize
}{{"GiB", GiB}, {"MiB", MiB}, {"KiB", KiB}, {"B", 1}}

// ParseByteSize reads "32MiB" or a plain number of bytes.
func ParseByteSize(text string) (ByteSize, error) {
	number, unit := strings.TrimSpace(text), ByteSize(1)
	for _, u := range sizeUnits {
		if rest, ok := strings.CutSuffix(number, u.suffix); ok {
			number, unit = strings.TrimSpace(rest), u.bytes
			break
		}
	}
	n, err := strconv.ParseInt(number, 10, 64)
	if err != nil || n < 0 {
		return 0, fmt.Errorf("not a size; write a whole number with B, KiB, MiB or GiB, for example \"32MiB\"")
	}
	if n > math.MaxInt64/int64(unit) {
		return 0, fmt.Errorf("larger than any memory; write a smaller size")
	}
	return ByteSize(n) * unit, nil
}

// String is the shortest exact spelling, for example "32MiB".
func (b ByteSize) String() string {
	for _, u := range sizeUnits {
		if b != 0 && b%u.bytes == 0 {
			return strconv.FormatInt(int64(b/u.bytes), 10) + u.suffix
		}
	}
	return "0B"
}

// Duration is a span of time, written like "5s".
type Duration time.Duration

// ParseDuration reads Go's spelling of a duration; negative ones are refused.
func ParseDuration(text string) (Duration, error) {
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 {
		return 0, fmt.Errorf("not a time; write a number with ms, s, m or h, for example \"5s\"")
	}
	return Duration(d), nil
}

// Std is the duration as the standard library's type.
func (d Duration) Std() time.Duration { return time.Duration(d) }

// String is Go's spelling.
func (d Duration) String() string { return time.Duration(d).String() }

// FileMode is a set of permission bits, written in octal like "0660".
type FileMode uint32

// ParseFileMode reads octal permission bits up to 0777.
func ParseFileMode(text string) (FileMode, error) {
	n, err := strconv.ParseUint(text, 8, 32)
	if err != nil || n > 0o777 {
		return 0, fmt.Errorf("not a file mode; write octal permission bits as a string, for example \"0660\"")
	}
	return FileMode(n), nil
}

// String is the octal spelling with a leading zero.
func (m FileMode) String() string { return fmt.Sprintf("%#o", uint32(m)) }
