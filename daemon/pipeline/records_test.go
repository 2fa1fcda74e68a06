package pipeline

import (
	"strings"
	"testing"

	pb "penstock.dev/penstock/proto/gen/penstock/v1"
)

func TestCutBits(t *testing.T) {
	all := []byte{0b1010_0101, 0b0000_1111, 0b0000_0001}
	bit := func(b []byte, i int) bool { return b[i>>3]>>(i&7)&1 != 0 }
	var memory bits
	for first := range 17 {
		for end := first + 1; end <= 17; end++ {
			got := memory.cut(all, first, end)
			if len(got) != (end-first+7)/8 {
				t.Fatalf("%d to %d: %d bytes", first, end, len(got))
			}
			for i := first; i < end; i++ {
				if bit(got, i-first) != bit(all, i) {
					t.Fatalf("%d to %d: bit %d is %v", first, end, i, !bit(all, i))
				}
			}
		}
	}
	if got := memory.cut(nil, 3, 9); got != nil {
		t.Errorf("of none set %x", got)
	}
}

func TestTopicsHaveOneSource(t *testing.T) {
	column := uint32(3)
	byColumn := &pb.RecordShape{TopicColumn: &column, Topics: []string{"a", "b"}}
	for want, open := range map[string]*pb.OpenWriter{
		"":                                    {Topic: "a"},
		"a,b":                                 {Shape: byColumn},
		"(each row's own)":                    {Shape: &pb.RecordShape{TopicColumn: &column}},
		"OpenWriter.topic is empty":           {Shape: &pb.RecordShape{}},
		`"a" contradicts shape.topic_column`:  {Topic: "a", Shape: byColumn},
		`"a b" is not a legal topic name`:     {Topic: "a b"},
		"OpenWriter.kafka names no bootstrap": {Topic: "a", Shape: &pb.RecordShape{Partitioner: 7}},
	} {
		err := checkTopics(open)
		if strings.HasPrefix(want, "OpenWriter.kafka") {
			err = checkOpen(open)
		}
		switch {
		case err != nil && (want == "" || !strings.Contains(err.Error(), want)):
			t.Errorf("got %v, want %q", err, want)
		case err == nil && want != "" && topicsInWords(open) != want:
			t.Errorf("the topics are %q, want %q", topicsInWords(open), want)
		}
	}
}
