package history

import (
	"fmt"
	"maps"
	"slices"

	pb "penstock.dev/penstock/proto/gen/penstock/v1"
)

const (
	// splits of the source; a writer reads those whose number is its own modulo the parallelism.
	splits = 6
	// splitRows is the number of ids of one split.
	splitRows      = 1 << 32
	maxParallelism = 3
)

// offsets are the next row of each split.
type offsets [splits]int

// committable is a sealed transaction.
type committable struct {
	id         string
	producerID int64
	epoch      int16
}

// checkpoint is what a job is restored from.
type checkpoint struct {
	// number also numbers the transactions: those of the epochs after it have higher ones.
	number      int
	parallelism int
	offsets     offsets
	// pending were not committed when the checkpoint was taken.
	pending []committable
}

// transactionalID is spelled as the connector spells it (TransactionalIdFactory).
func transactionalID(prefix string, subtask, number int) string {
	return fmt.Sprintf("%s-%d-%d", prefix, subtask, number)
}

func committableOf(sealed *pb.EpochSealed) committable {
	return committable{sealed.GetTransactionalId(), sealed.GetProducerId(), int16(sealed.GetProducerEpoch())}
}

// verdict is what the reader found against the model.
type verdict struct {
	rows, lost, duplicated, foreign int
	// examples of wrong rows, a few.
	examples []string
}

func (v *verdict) fault(format string, args ...any) {
	if len(v.examples) < 10 {
		v.examples = append(v.examples, fmt.Sprintf(format, args...))
	}
}

// judge compares the values that a reader of committed records sees with the rows that the source has given.
func judge(values []string, want offsets, spell func(id int) string) verdict {
	var v verdict
	seen := map[string]int{}
	for _, value := range values {
		seen[value]++
	}
	for split, count := range want {
		for i := range count {
			id := split*splitRows + i
			value := spell(id)
			v.rows++
			switch n := seen[value]; {
			case n == 0:
				v.lost++
				v.fault("row %d of split %d is lost", i, split)
			case n > 1:
				v.duplicated += n - 1
				v.fault("row %d of split %d is there %d times", i, split, n)
			}
			delete(seen, value)
		}
	}
	for _, value := range slices.Sorted(maps.Keys(seen)) {
		v.foreign += seen[value]
		v.fault("nobody wrote %s", value)
	}
	return v
}
