package producer_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"penstock.dev/penstock/kafka/producer"
)

func TestErrorKeepsKindAndCause(t *testing.T) {
	err := fmt.Errorf("around: %w", producer.Errorf(producer.Fenced, "init of %s: %w", "a", context.DeadlineExceeded))
	if k := producer.KindOf(err); k != producer.Fenced {
		t.Errorf("kind %v", k)
	}
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Error("the cause is lost")
	}
	if err.Error() != "around: init of a: context deadline exceeded" {
		t.Errorf("text %q", err)
	}
	if k := producer.KindOf(errors.New("foreign")); k != producer.Internal {
		t.Errorf("a foreign error is %v", k)
	}
}

func TestKindNamesAreThoseOfTheContract(t *testing.T) {
	for kind, want := range map[producer.Kind]string{
		producer.Internal: "INTERNAL", producer.Retry: "RETRY", producer.FailEpoch: "FAIL_EPOCH",
		producer.Fenced: "FENCED", producer.BadRequest: "BAD_REQUEST",
	} {
		if kind.String() != want {
			t.Errorf("%d is %v, want %s", kind, kind, want)
		}
	}
}
