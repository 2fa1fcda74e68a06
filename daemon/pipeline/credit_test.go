package pipeline

import (
	"testing"
	"time"

	"penstock.dev/penstock/kafka/producer/pace"
)

func TestCreditIsAShareOfTheQueue(t *testing.T) {
	const opened = 4 << 20
	for _, c := range []struct{ perSecond, want int64 }{
		{1, leastCredit},
		{20 << 20, (20 << 20) / 20 / creditShare},
		{100 << 20, (100 << 20) / 20 / creditShare},
		{1000 << 20, opened},
	} {
		p := pace.New(50 * time.Millisecond)
		m := p.Meter()
		for i := range int64(3) {
			m.Observe(time.Unix(i, 0), 1+i*c.perSecond, 1, 1)
		}
		if got := credit(p, opened, nil); got != c.want {
			t.Errorf("%d bytes a second give a credit of %d, want %d", c.perSecond, got, c.want)
		}
		if got := credit(p, opened, &Disk{HighWater: 2 << 20}); got != 0 {
			t.Errorf("with a disk a credit of %d, which may be below its high water", got)
		}
	}
	if got := credit(pace.New(time.Second), opened, nil); got != 0 {
		t.Errorf("a credit of %d before anything is known", got)
	}
	if got := credit(nil, opened, nil); got != 0 {
		t.Errorf("a credit of %d without a pace", got)
	}
	small := pace.New(time.Nanosecond)
	m := small.Meter()
	for i := range int64(3) {
		m.Observe(time.Unix(i, 0), 1+i, 1, 1)
	}
	if got := credit(small, 64<<10, nil); got != 64<<10 {
		t.Errorf("a credit of %d where the writer was opened with 64 KiB", got)
	}
}
