package rdkafka

import (
	"testing"
)

func TestSpreadStaysForSixteenKilobytesAndThenMovesOn(t *testing.T) {
	partitions := []int32{3, 5, 8}
	var s spread
	first := s.choose(partitions, switchBytes-1)
	if again := s.choose(partitions, 1); again != first {
		t.Errorf("moved from %d to %d before %d bytes", first, again, switchBytes)
	}
	seen := map[int32]int{}
	for range 300 {
		seen[s.choose(partitions, switchBytes)]++
	}
	for _, p := range partitions {
		if seen[p] != 100 {
			t.Errorf("partition %d got %d of 300 large batches, want 100: %v", p, seen[p], seen)
		}
	}
}

func TestSpreadWithoutPartitionsLeavesTheChoice(t *testing.T) {
	var s spread
	if got := s.choose(nil, 10); got != anyPartition {
		t.Errorf("chose %d", got)
	}
}

func TestSpreadSurvivesFewerPartitions(t *testing.T) {
	var s spread
	for range 20 {
		s.choose([]int32{0, 1, 2, 3}, switchBytes)
	}
	if got := s.choose([]int32{7}, switchBytes); got != 7 {
		t.Errorf("chose %d of [7]", got)
	}
}
