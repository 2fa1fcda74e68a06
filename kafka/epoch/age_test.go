package epoch_test

import (
	"strings"
	"testing"
	"time"

	"penstock.dev/penstock/kafka/epoch"
	"penstock.dev/penstock/kafka/kafkatest"
	"penstock.dev/penstock/kafka/producer"
)

func withTransactionTimeout(d time.Duration) func(*epoch.Options) {
	return func(o *epoch.Options) { o.Config.TransactionTimeout = d }
}

func requireTooOld(t *testing.T, err error) {
	t.Helper()
	if producer.KindOf(err) != producer.FailEpoch || !strings.Contains(err.Error(), "properties.transaction.timeout.ms = 300, of "+
		"which 30 are left for the commit") {
		t.Errorf("kind %v of %v", producer.KindOf(err), err)
	}
}

// TestOldTransactionFails before the broker aborts it, whoever looks first; without rows it is none.
func TestOldTransactionFails(t *testing.T) {
	for name, look := range map[string]func(*epoch.Writer) error{
		"err":     func(w *epoch.Writer) error { return w.Err() },
		"produce": func(w *epoch.Writer) error { return w.Produce(testContext(t), batch(1)) },
		"seal":    func(w *epoch.Writer) error { _, err := w.Seal(testContext(t), 1); return err },
	} {
		t.Run(name, func(t *testing.T) {
			w, _ := newWriter(t, kafkatest.Faults{}, withTransactionTimeout(300*time.Millisecond))
			mustBegin(t, w, 1, "a")
			time.Sleep(320 * time.Millisecond)
			if err := w.Err(); err != nil {
				t.Fatalf("without rows: %v", err)
			}
			if err := w.Produce(testContext(t), batch(1)); err != nil {
				t.Fatal(err)
			}
			if err := w.Err(); err != nil {
				t.Fatalf("too early: %v", err)
			}
			time.Sleep(290 * time.Millisecond)
			requireTooOld(t, look(w))
		})
	}
}

// TestOldWhileSealing: a flush that takes too long gives no committable, and the next epoch starts anew.
func TestOldWhileSealing(t *testing.T) {
	w, e := newWriter(t, kafkatest.Faults{Seal: func(string) error { time.Sleep(320 * time.Millisecond); return nil }},
		withTransactionTimeout(300*time.Millisecond))
	mustBegin(t, w, 1, "a")
	if err := w.Produce(testContext(t), batch(1)); err != nil {
		t.Fatal(err)
	}
	_, err := w.Seal(testContext(t), 1)
	requireTooOld(t, err)
	if e.Live() != 0 {
		t.Errorf("%d producers", e.Live())
	}
}
