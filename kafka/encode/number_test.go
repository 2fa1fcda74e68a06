package encode

import (
	"math"
	"strconv"
	"testing"
)

func TestAppendInt(t *testing.T) {
	values := []int64{0, 1, -1, 9, 10, 99, 100, 127, -128, 32767, -32768, math.MaxInt32, math.MinInt32, math.MaxInt64, math.MinInt64}
	for p := int64(1); p <= 1e18; p *= 10 {
		values = append(values, p-1, p, p+1, -p)
		if p == 1e18 {
			break
		}
	}
	for shift := range 63 {
		values = append(values, 1<<shift, 1<<shift-1, -(1 << shift))
	}
	for _, v := range values {
		if got, want := string(appendInt(nil, v)), strconv.FormatInt(v, 10); got != want {
			t.Errorf("%d: got %s", v, got)
		}
	}
	if got := string(appendUint(nil, math.MaxUint64)); got != "18446744073709551615" {
		t.Errorf("got %s", got)
	}
}
