package pipeline

import "penstock.dev/penstock/kafka/producer/pace"

const (
	// creditShare is which part of what may wait in the producer's queue may beside it be parked: a batch to go on with and one that is
	// being filled. All of it is in front of a barrier.
	creditShare = 4
	// leastCredit keeps batches, which are half as large, at a size at which the costs of each do not count.
	leastCredit = 128 << 10
)

// credit is how many bytes of parked batches the writer may have outstanding now; 0: as many as it was opened with, because the pace
// of the broker is not known, or because there is a disk: what the pace allows is less than its high water, so that nothing would ever go
// there.
func credit(p *pace.Pace, opened int64, disk *Disk) int64 {
	bytes := p.Known()
	if bytes == 0 || disk != nil {
		return 0
	}
	return min(max(bytes/creditShare, leastCredit), opened)
}
