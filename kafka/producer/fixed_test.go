package producer_test

import (
	"errors"
	"strings"
	"testing"

	"penstock.dev/penstock/kafka/producer"
)

func TestFixedRemembersTheNumberOfPartitions(t *testing.T) {
	f := producer.NewFixed(7)
	count := func(n int, err error) func() (int, error) { return func() (int, error) { return n, err } }
	lost := errors.New("lost")
	if _, err := f.Partition("a", count(0, lost)); err != lost {
		t.Errorf("got %v", err)
	}
	if _, err := f.Partition("a", count(0, nil)); err == nil || !strings.Contains(err.Error(), `topic "a"`) {
		t.Errorf("got %v", err)
	}
	for _, c := range []struct {
		topic string
		count int
		want  int32
	}{{"a", 5, 2}, {"a", 3, 2}, {"b", 3, 1}, {"c", 8, 7}, {"d", 1, 0}} {
		if got, err := f.Partition(c.topic, count(c.count, nil)); err != nil || got != c.want {
			t.Errorf("%+v: got %d, %v", c, got, err)
		}
	}
}
