package encode

import (
	"errors"
	"strings"
	"testing"

	"penstock.dev/penstock/columnar"
)

// Each fault names the part, the column and the row, in the words of Kafka or its connector.
func TestRecordFaults(t *testing.T) {
	good := []any{"a", 1, 1, nil, nil, "x"}
	for want, c := range map[string]struct {
		topics []string
		row    []any
	}{
		"row 1, value: fail to serialize at field: v. Column is NOT NULL": {nil, []any{"a", nil, 1, nil, nil, "x"}},
		"row 1, topic: fail to serialize at field: topic. The topic of the sink record is not valid. Expected a single topic but no topic is set.": {
			nil, []any{"a", 1, 1, nil, nil, nil}},
		"The topic of the sink record is not valid. Expected topic to be in: [x, y] but was: z": {
			[]string{"x", "y"}, []any{"a", 1, 1, nil, nil, "z"}},
		`but the topic was: "a/b"`:        {nil, []any{"a", 1, 1, nil, nil, "a/b"}},
		`but the topic was: ""`:           {nil, []any{"a", 1, 1, nil, nil, ""}},
		`but the topic was: "x\x00"`:      {nil, []any{"a", 1, 1, nil, nil, "x\x00"}},
		`but the topic was: "` + "\uFFFD": {nil, []any{"a", 1, 1, nil, nil, "\xFF"}},
		"row 1, timestamp: fail to serialize at field: at. Invalid timestamp: -1. Timestamp should always be non-negative or null.": {
			nil, []any{"a", 1, 1, millis(-1), nil, "x"}},
		"row 1, timestamp: fail to serialize at field: at. The timestamp 0 (1970-01-01 00:00:00 UTC) cannot be sent natively": {
			nil, []any{"a", 1, 1, millis(0), nil, "x"}},
	} {
		s := orderShape(t)
		s.Topics = c.topics
		e := mustRecords(t, orderType(), s)
		e.RefuseZeroTimestamps = true
		_, err := e.Encode(build(t, orderType(), good, c.row, good))
		if _, ok := errors.AsType[*RowError](err); !ok || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want an error with %q", err, want)
		}
		checkRecords(t, e, build(t, orderType(), good), `0 x -1 "1,a" "{\"v\":1,\"k1\":\"a\"}"`)
	}
}

// Flink finishes a record before it takes up the next one, and within one looks at key, value, topic and timestamp in turn.
func TestFirstFaultIsTheOneOfFlink(t *testing.T) {
	typ := row("k", notNull(of(columnar.Integer)), "v", notNull(of(columnar.Integer)), "topic", of(columnar.VarChar),
		"at", of(columnar.TimestampLTZ))
	s := Shape{Key: mustPart(t, typ, nil, asJSON, 0), Value: *mustPart(t, typ, nil, asJSON, 1), Topic: 2, Timestamp: 3, Headers: NoColumn}
	good := []any{1, 1, "x", nil}
	noKey, noValue, noTopic, noTime := []any{nil, 1, "y", nil}, []any{1, nil, "x", nil}, []any{1, 1, nil, nil}, []any{1, 1, "y", millis(-1)}
	for _, c := range []struct {
		want string
		rows [][]any
	}{
		{"row 1, value", [][]any{good, noValue, noKey}},
		{"row 1, key", [][]any{good, noKey, noValue, noTopic}},
		{"row 1, key", [][]any{good, {nil, nil, nil, millis(-1)}}},
		{"row 1, value", [][]any{good, {1, nil, nil, millis(-1)}}},
		{"row 1, topic", [][]any{good, {1, 1, nil, millis(-1)}}},
		// Topic by topic the second noValue would come first.
		{"row 1, timestamp", [][]any{good, noTime, noValue, noTopic, noKey}},
		{"row 1, topic", [][]any{good, noTopic, noTime, noValue, noKey}},
		{"row 0, key", [][]any{noKey, noTopic}},
	} {
		_, err := mustRecords(t, typ, s).Encode(build(t, typ, c.rows...))
		if err == nil || !strings.HasPrefix(err.Error(), c.want+":") {
			t.Errorf("%v: got %v, want one of %q", c.rows, err, c.want)
		}
	}
}

func TestCompileRecordsRefuses(t *testing.T) {
	typ := orderType()
	with := func(change func(*Shape)) Shape {
		s := orderShape(t)
		change(&s)
		return s
	}
	for want, s := range map[string]Shape{
		"the value of the record has no format":          with(func(s *Shape) { s.Value.Plan = nil }),
		"the key of the record has no format":            with(func(s *Shape) { s.Key.Plan = nil }),
		"value: column 6 of a row of 6 columns":          with(func(s *Shape) { s.Value.Columns = []int{6, 0} }),
		"key: column -2 of a row of 6 columns":           with(func(s *Shape) { s.Key.Columns = []int{-2, 0} }),
		"value: 1 columns for a row of 2 fields":         with(func(s *Shape) { s.Value.Columns = []int{1} }),
		"timestamp: column 9 of a row":                   with(func(s *Shape) { s.Timestamp = 9 }),
		`column "v" cannot be the timestamp of a record`: with(func(s *Shape) { s.Timestamp = 1 }),
		`column "v" cannot be the headers of a record`:   with(func(s *Shape) { s.Headers = 1 }),
		`column "at" cannot be the topic of a record`:    with(func(s *Shape) { s.Topic = 3 }),
		`topic "a b" is no name that Kafka accepts`:      with(func(s *Shape) { s.Topics = []string{"x", "a b"} }),
		"Key must be set in upsert mode":                 with(func(s *Shape) { s.Key, s.Upsert = nil, true }),
		"because 'debezium-json' is not in insert-only":  with(func(s *Shape) { s.Value, s.Upsert = *mustPart(t, typ, nil, asDebezium, 1), true }),
	} {
		if _, err := CompileRecords(typ, s); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want an error with %q", err, want)
		}
	}
	for want, project := range map[string]func() (*columnar.Type, error){
		"1 names for 2 columns":    func() (*columnar.Type, error) { return Project(typ, []int{0, 1}, []string{"a"}) },
		"column 6 of a row":        func() (*columnar.Type, error) { return Project(typ, []int{6}, nil) },
		"the schema must be a ROW": func() (*columnar.Type, error) { return Project(of(columnar.Integer), nil, nil) },
	} {
		if _, err := project(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want an error with %q", err, want)
		}
	}
}

func TestLegalTopics(t *testing.T) {
	for name, want := range map[string]bool{
		"a": true, "A.b_c-9": true, "...": true, strings.Repeat("a", 249): true,
		"": false, ".": false, "..": false, strings.Repeat("a", 250): false, "a b": false, "é": false, "a/b": false,
	} {
		if LegalTopic(name) != want {
			t.Errorf("%q: got %v", name, !want)
		}
	}
}

// Names that are never seen again do not stay for ever.
func TestTopicGrouperForgets(t *testing.T) {
	var g topicGrouper
	for i := range maxKnownTopics + 2 {
		g.reset()
		name := strings.Repeat("a", i%200+1) + string(rune('0'+i/2000))
		if !g.add([]byte(name)) {
			g.learn(name)
			g.add([]byte(name))
		}
	}
	for i := range maxKnownTopics + 2 {
		g.learn(strings.Repeat("b", 1+i%100))
	}
	g.reset()
	if len(g.known) != 0 || len(g.names) != 0 || len(g.count) != 0 {
		t.Errorf("%d names are left", len(g.known))
	}
}

// FuzzRecords feeds arbitrary batches: nothing panics, and all parts have one entry for each row.
func FuzzRecords(f *testing.F) {
	typ := orderType()
	shape := orderShape(f)
	upsert := shape
	upsert.Upsert, upsert.Topics = true, []string{"x", "y"}
	b := columnar.NewBuilder(typ)
	for i, r := range orders() {
		b.Append(byte(i), r...)
	}
	f.Add(b.Finish(1))
	for _, r := range orders() {
		b.Append(0, r...)
	}
	f.Add(b.Finish(1))
	encoders := []*RecordEncoder{mustRecords(f, typ, shape), mustRecords(f, typ, upsert)}
	f.Fuzz(func(t *testing.T, body []byte) {
		batch, err := columnar.Parse(body, typ, 1)
		if err != nil {
			return
		}
		for _, e := range encoders {
			e.Value.MaxBytes, e.Key.MaxBytes = 1<<20, 1<<20
			r, err := e.Encode(&batch)
			if err != nil {
				continue
			}
			n := batch.Rows
			if r.Len() != n || r.Key.Len() != n || len(r.Timestamps) != n || len(r.Headers.Ends) != n+1 {
				t.Fatalf("%d rows: %d values, %d keys, %d timestamps, %d ends of headers", n, r.Len(), r.Key.Len(), len(r.Timestamps), len(r.Headers.Ends))
			}
			seen, at := make([]bool, n), 0
			for _, run := range r.Topics {
				if run.First != at || run.End <= run.First {
					t.Fatalf("runs %v", r.Topics)
				}
				for at = run.First; at < run.End; at++ {
					if seen[r.Row(at)] || at > run.First && r.Row(at) < r.Row(at-1) {
						t.Fatalf("record %d of topic %s is row %d: out of order", at, run.Topic, r.Row(at))
					}
					seen[r.Row(at)] = true
				}
			}
			if at != n {
				t.Fatalf("the runs end at %d of %d", at, n)
			}
			describe(r)
		}
	})
}
