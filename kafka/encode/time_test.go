package encode

import (
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"penstock.dev/penstock/columnar"
)

// testdata/time_flink.txt is what Flink wrote.
func TestTimesLikeFlink(t *testing.T) {
	typ := row("ts", of(columnar.Timestamp), "lz", of(columnar.TimestampLTZ), "tm", of(columnar.Time), "d", of(columnar.Date))
	for _, line := range lines(t, "time_flink.txt") {
		if strings.HasPrefix(line, "#") {
			continue
		}
		f := strings.Split(line, "\t")
		millis, err := strconv.ParseInt(f[0], 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		nanos, err := strconv.Atoi(f[1])
		if err != nil {
			t.Fatal(err)
		}
		inDay := (millis%millisPerDay + millisPerDay) % millisPerDay
		at := columnar.TimestampValue{Millis: millis, Nanos: int32(nanos)}
		values := []any{at, at, inDay, int64(int32(millis))}
		for format, texts := range map[TimestampFormat][]string{TimestampSQL: f[2:4], TimestampISO8601: f[4:6]} {
			got, err := encodeRows(t, typ, JSONOptions{Timestamps: format}, values)
			want := `{"ts":"` + texts[0] + `","lz":"` + texts[1] + `","tm":"` + f[6] + `","d":"` + f[7] + `"}`
			if err != nil || got[0] != want {
				t.Errorf("%s: got %v, %v\nwant %s", line, got, err, want)
			}
		}
		// csv takes TIMESTAMP_LTZ through toLocalDateTime too.
		csv, err := encodeCSV(t, CSVOptions{FieldDelimiter: '\t'}, typ.Children, at, at, nil, int64(int32(millis)))
		if want := `"` + f[2] + "\"\t\"" + f[2] + "Z\"\t\t" + f[7]; err != nil || csv != want {
			t.Errorf("%s: csv has %q, %v, want %q", line, csv, err, want)
		}
	}
}

func TestDates(t *testing.T) {
	for day, want := range map[int64]string{
		0: "1970-01-01", -1: "1969-12-31", 11016: "2000-02-29", 11017: "2000-03-01", 47540: "2100-02-28", 47541: "2100-03-01",
		2932896: "9999-12-31", 2932897: "+10000-01-01", -719162: "0001-01-01", -719163: "0000-12-31", -719528: "0000-01-01",
		-719529: "-0001-12-31", -719893: "-0001-01-01", -5228446: "-12345-01-01",
		math.MaxInt32: "+5881580-07-11", math.MinInt32: "-5877641-06-23",
	} {
		if got := encodeOne(t, of(columnar.Date), JSONOptions{}, day); got != `"`+want+`"` {
			t.Errorf("%d: got %s, want %s", day, got, want)
		}
	}
}

// A column remembers the text of its last date.
func TestDatesOfOneColumn(t *testing.T) {
	typ := row("a", of(columnar.Date), "b", of(columnar.Date))
	got, err := encodeRows(t, typ, JSONOptions{}, []any{0, 2932897}, []any{0, 0}, []any{-1, nil}, []any{nil, -719529}, []any{0, 0})
	want := `{"a":"1970-01-01","b":"+10000-01-01"} {"a":"1970-01-01","b":"1970-01-01"} {"a":"1969-12-31","b":null} ` +
		`{"a":null,"b":"-0001-12-31"} {"a":"1970-01-01","b":"1970-01-01"}`
	if err != nil || strings.Join(got, " ") != want {
		t.Errorf("got %q, %v", got, err)
	}
}

func TestTimeOutsideOfADay(t *testing.T) {
	typ := row("f", of(columnar.Time))
	for millis, want := range map[int64]string{-999: "00:00:00", 86_399_999: "23:59:59", 45_296_789: "12:34:56"} {
		if got, err := encodeRows(t, typ, JSONOptions{}, []any{millis}); err != nil || got[0] != `{"f":"`+want+`"}` {
			t.Errorf("%d: got %v, %v", millis, got, err)
		}
	}
	for _, millis := range []int64{-1000, 86_400_000, math.MinInt32} {
		_, err := encodeRows(t, typ, JSONOptions{}, []any{millis})
		var rowErr *RowError
		if !errors.As(err, &rowErr) || rowErr.Column != "f" || !strings.Contains(rowErr.Reason, "outside of one day") {
			t.Errorf("%d: got %v", millis, err)
		}
	}
}

func TestTimestampNanosOutOfRange(t *testing.T) {
	for _, nanos := range []int32{1_000_000, -1} {
		_, err := encodeRows(t, row("f", of(columnar.Timestamp)), JSONOptions{}, []any{columnar.TimestampValue{Nanos: nanos}})
		var bad *BadBatch
		if !errors.As(err, &bad) || !strings.Contains(bad.Detail, `column "f"`) {
			t.Errorf("%d: got %v", nanos, err)
		}
	}
}

// A column remembers the text of its last second; each of these would be taken for its neighbour in the list if it did so carelessly.
func TestTimestampsOfOneColumn(t *testing.T) {
	millis := []int64{
		0, 999, 1000, -1, -1000, -1001, 0, 86_399_999, 86_400_000,
		// The first second of all has no first millisecond, and what would be it is one at the other end.
		math.MinInt64, math.MaxInt64, math.MinInt64 + 807, math.MaxInt64 - 191, math.MinInt64 + 808, math.MaxInt64 - 192,
		// Nor has the last one a last millisecond.
		math.MaxInt64, math.MinInt64, math.MaxInt64 - 807, math.MinInt64 + 191,
	}
	for _, typ := range []*columnar.Type{of(columnar.Timestamp), of(columnar.TimestampLTZ)} {
		var rows [][]any
		var want []string
		for _, m := range millis {
			at := columnar.TimestampValue{Millis: m, Nanos: int32(m & 1)}
			rows = append(rows, []any{at})
			want = append(want, `{"f":`+encodeOne(t, typ, JSONOptions{}, at)+"}")
		}
		if got, err := encodeRows(t, row("f", typ), JSONOptions{}, rows...); err != nil || !slices.Equal(got, want) {
			t.Errorf("got %q, %v, want %q", got, err, want)
		}
	}
}
