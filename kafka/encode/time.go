package encode

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"
)

const (
	millisPerDay  = 86_400_000
	nanosPerMilli = 1_000_000
	// noDay is not a day of any value: it lies outside what millis / millisPerDay can yield.
	noDay = -1 << 62
)

// dayText remembers the text of the last date that one column wrote; neighbouring rows mostly share it.
type dayText struct {
	day  int64
	n    int
	text [16 + 3*wordBytes]byte
}

// appendDate writes a date like DateTimeFormatter.ISO_LOCAL_DATE; day counts from 1970-01-01.
func (d *dayText) appendDate(dst []byte, day int64) []byte {
	if day != d.day {
		d.day = day
		d.n = len(appendDate(d.text[:0], day))
	}
	return append(dst, d.text[:d.n]...)
}

func appendDate(dst []byte, day int64) []byte {
	year, month, dayOfMonth := civil(day)
	switch {
	case year > 9999:
		dst = append(dst, '+')
		dst = appendUint(dst, uint64(year))
	case year < -9999:
		dst = append(dst, '-')
		dst = appendUint(dst, uint64(-year))
	default:
		if year < 0 {
			dst = append(dst, '-')
			year = -year
		}
		dst = extend(dst, 4)
		putUint(dst[len(dst)-4:], uint64(year))
	}
	return append(dst, '-', digitPairs[2*month], digitPairs[2*month+1],
		'-', digitPairs[2*dayOfMonth], digitPairs[2*dayOfMonth+1])
}

// civil converts a day count into a proleptic Gregorian date. It counts years from March, so that the leap day comes last,
// in eras of 400 years.
func civil(day int64) (year, month, dayOfMonth int64) {
	const daysPerEra = 146_097
	// 0000-03-01 is 719,468 days before 1970-01-01.
	day += 719_468
	era := day / daysPerEra
	if day%daysPerEra < 0 {
		era--
	}
	dayOfEra := day - era*daysPerEra
	yearOfEra := (dayOfEra - dayOfEra/1460 + dayOfEra/36_524 - dayOfEra/146_096) / 365
	dayOfYear := dayOfEra - (365*yearOfEra + yearOfEra/4 - yearOfEra/100)
	monthFromMarch := (5*dayOfYear + 2) / 153
	dayOfMonth = dayOfYear - (153*monthFromMarch+2)/5 + 1
	year = era*400 + yearOfEra
	if month = monthFromMarch + 3; month > 12 {
		month -= 12
		year++
	}
	return year, month, dayOfMonth
}

// appendClock writes HH:mm:ss; second is below 86,400.
func appendClock(dst []byte, second uint32) []byte {
	h, m, s := second/3600*2, second/60%60*2, second%60*2
	return append(dst, digitPairs[h], digitPairs[h+1], ':', digitPairs[m], digitPairs[m+1], ':',
		digitPairs[s], digitPairs[s+1])
}

// appendFraction writes a point and up to nine digits without trailing zeros, nothing for 0; nanos is below 1,000,000,000.
func appendFraction(dst []byte, nanos uint32) []byte {
	if nanos == 0 {
		return dst
	}
	dst = reserve(dst, 2*wordBytes)
	out := dst[len(dst) : len(dst)+2*wordBytes]
	tenths := nanos / 10
	digits := eightDigits(uint64(tenths))
	out[0] = '.'
	storeWord(out[1:], digits|digitZeros)
	if last := nanos - tenths*10; last != 0 {
		out[1+wordBytes] = '0' + byte(last)
		return dst[:len(dst)+2+wordBytes]
	}
	return dst[:len(dst)+1+(bits.Len64(digits)+7)>>3]
}

// timestamp returns element row of a TIMESTAMP or TIMESTAMP_LTZ: milliseconds, rounded down, and the nanoseconds above them.
func (e *Encoder) timestamp(c *cell, row int) (millis int64, nanos uint32) {
	millis = int64(binary.LittleEndian.Uint64(c.children[0].values[row*8:]))
	nanos = binary.LittleEndian.Uint32(c.children[1].values[row*4:])
	if nanos >= nanosPerMilli {
		e.fail(badBatchf("row %d, column %q: %d nanoseconds of a millisecond (at most 999999)", row, c.path, int32(nanos)))
		nanos = 0
	}
	return millis, nanos
}

// splitDay returns the day and the millisecond in it.
func splitDay(millis int64) (day, inDay int64) {
	day, inDay = millis/millisPerDay, millis%millisPerDay
	if inDay < 0 {
		day--
		inDay += millisPerDay
	}
	return day, inDay
}

// secondText remembers the text of the last second that one column wrote, date and time of day; neighbouring rows mostly share
// it. The zero value remembers nothing.
type secondText struct {
	// first is the first millisecond of the second.
	first int64
	known bool
	n     int
	text  [momentBytes]byte
}

// momentBytes is room for any date, a separator and a time of day, in whole words.
const momentBytes = 4 * wordBytes

// appendTimestamp writes a TIMESTAMP or, with zone, a TIMESTAMP_LTZ at UTC, without quotes.
func (e *Encoder) appendTimestamp(dst []byte, c *cell, row int, zone bool) []byte {
	millis, nanos := e.timestamp(c, row)
	s := c.second
	inSecond := uint64(millis - s.first)
	if inSecond >= 1000 || !s.known {
		inSecond = e.spellSecond(c, millis, zone)
	}
	dst = reserve(dst, momentBytes+3*wordBytes)
	out := dst[len(dst) : len(dst)+momentBytes]
	copy(out, s.text[:])
	dst = dst[:len(dst)+s.n]
	dst = appendFraction(dst, uint32(inSecond)*nanosPerMilli+nanos)
	if zone {
		dst = append(dst, 'Z')
	}
	return dst
}

// spellSecond puts the second of millis into c.second and returns the milliseconds behind its start.
func (e *Encoder) spellSecond(c *cell, millis int64, zone bool) uint64 {
	day, inDay := splitDay(millis)
	if !zone || e.plan.localUTC {
		// TimestampData.toLocalDateTime keeps the day in an int, which wraps; toInstant does not.
		day = int64(int32(day))
	}
	s := c.second
	text := append(appendDate(s.text[:0], day), e.plan.separator)
	s.n = len(appendClock(text, uint32(inDay/1000)))
	inSecond := inDay % 1000
	s.first = millis - inSecond
	// The first and the last second of all go beyond what millis can be, and would be taken for each other.
	s.known = s.first <= millis && s.first <= math.MaxInt64-999
	return uint64(inSecond)
}

// appendDateOf writes element i of a DATE column, without quotes.
func (c *cell) appendDateOf(dst []byte, i int) []byte {
	return c.day.appendDate(dst, int64(int32(binary.LittleEndian.Uint32(c.values[i*4:]))))
}

// appendSeconds writes a TIME without quotes and without its milliseconds, which Flink's json format drops up to 2.2, toward
// zero (LocalTime.ofSecondOfDay), and throws outside of one day.
func (e *Encoder) appendSeconds(dst []byte, c *cell, row int) []byte {
	millis := int32(binary.LittleEndian.Uint32(c.values[row*4:]))
	second := millis / 1000
	if second < 0 || second >= 86_400 {
		e.failTime(c, millis)
		return dst
	}
	return appendClock(dst, uint32(second))
}

// appendMillis writes a TIME with its milliseconds, as Flink's csv format does (LocalTime.ofNanoOfDay, which throws outside of
// one day).
func (e *Encoder) appendMillis(dst []byte, c *cell, row int) []byte {
	millis := int32(binary.LittleEndian.Uint32(c.values[row*4:]))
	if millis < 0 || millis >= millisPerDay {
		e.failTime(c, millis)
		return dst
	}
	dst = appendClock(dst, uint32(millis)/1000)
	return appendFraction(dst, uint32(millis)%1000*nanosPerMilli)
}

func (e *Encoder) failTime(c *cell, millis int32) {
	e.failRow(c, fmt.Sprintf("TIME of %d ms is outside of one day", millis))
}
