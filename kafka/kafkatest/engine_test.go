package kafkatest_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"penstock.dev/penstock/kafka/kafkatest"
	"penstock.dev/penstock/kafka/producer"
)

func begin(t *testing.T, e *kafkatest.Engine, id string) producer.Open {
	t.Helper()
	r, err := e.Init(context.Background(), producer.Config{}, id)
	if err != nil {
		t.Fatal(err)
	}
	o, err := r.Begin()
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func TestSealedRecords(t *testing.T) {
	e := kafkatest.New(kafkatest.Faults{})
	o := begin(t, e, "a")
	r := &producer.Records{Topic: "t", Values: []byte("xyz"), ValueOffsets: []uint32{0, 1, 3, 3, 3}, ValueNulls: []byte{0b1000},
		Keys: []byte("k"), KeyOffsets: []uint32{0, 0, 1, 1, 1}, KeyNulls: []byte{0b0100}, Timestamps: []int64{7, 8, 9, 10},
		Headers: &producer.Headers{Ends: []uint32{0, 0, 2, 2, 2}, Offsets: []uint32{0, 1, 1, 2, 3}, Bytes: []byte("abc")}}
	if err := o.Produce(context.Background(), r); err != nil {
		t.Fatal(err)
	}
	copy(r.Values, "!!!") // the caller may reuse its memory
	s, err := o.Seal(context.Background(), 4)
	if err != nil {
		t.Fatal(err)
	}
	s.Release()
	got := e.Sealed("a").Records
	if len(got) != 4 || string(got[1].Value) != "yz" || string(got[1].Key) != "k" || got[0].Timestamp != 7 ||
		got[2].Value == nil || len(got[2].Value) != 0 || got[3].Value != nil || got[0].Key == nil || got[2].Key != nil ||
		len(got[0].Headers) != 0 || len(got[1].Headers) != 2 || got[1].Headers[0] != (kafkatest.Header{Key: "a"}) ||
		got[1].Headers[1] != (kafkatest.Header{Key: "b", Value: "c"}) {
		t.Errorf("records %+v", got)
	}
	if m := e.Misuses(); len(m) != 0 {
		t.Errorf("misuses %v", m)
	}
}

func TestMisusesAreSeen(t *testing.T) {
	e := kafkatest.New(kafkatest.Faults{})
	o := begin(t, e, "a")
	if _, err := o.Seal(context.Background(), 0); err != nil {
		t.Fatal(err)
	}
	o.Discard()
	begin(t, e, "a")
	all := strings.Join(e.Misuses(), "; ")
	for _, want := range []string{`discard of "a" after its end`, "init of the sealed id a", "1 producers are left over"} {
		if !strings.Contains(all, want) {
			t.Errorf("%q lacks %q", all, want)
		}
	}
}

func TestInitFaults(t *testing.T) {
	lost := errors.New("lost")
	e := kafkatest.New(kafkatest.Faults{Init: func(string) error { return lost }})
	if _, err := e.Init(context.Background(), producer.Config{}, "a"); err != lost {
		t.Errorf("error %v", err)
	}
	e.Order(kafkatest.Faults{InitDelay: time.Minute})
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Millisecond)
	defer cancel()
	if _, err := e.Init(ctx, producer.Config{}, "a"); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error %v", err)
	}
}
