package main

import (
	"context"
	"fmt"
)

// codecNumbers are those of a record batch's attributes.
var codecNumbers = map[string]uint8{"none": 0, "gzip": 1, "snappy": 2, "lz4": 3, "zstd": 4}

// checkCompressions produces with every compression, reads the records back with another client, and compares what the batches say
// they are. It returns the compressions that were proven.
func (p *probe) checkCompressions(ours *native) ([]string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), legLimit)
	defer cancel()
	var proven []string
	for _, codec := range []string{"none", "gzip", "snappy", "lz4", "zstd"} {
		c := cell{300, codec, 1}
		topic := "compression-" + codec
		if err := p.broker.CreateTopic(ctx, topic, 1, nil); err != nil {
			return nil, err
		}
		pool := c.pool()
		if _, err := ours.produce(ctx, c, topic, topic, pool, ""); err != nil {
			return nil, fmt.Errorf("compression %s: %w", codec, err)
		}
		records, err := p.broker.CommittedRecords(ctx, topic, c.rows())
		if err != nil {
			return nil, err
		}
		for i, r := range records {
			at := i % poolValues * c.Size
			if r.Attrs.CompressionType() != codecNumbers[codec] || string(r.Value) != string(pool[at:at+c.Size]) {
				return nil, fmt.Errorf("compression %s: record %d of a batch with compression %d has another value or compression", codec, i,
					r.Attrs.CompressionType())
			}
		}
		if len(records) != c.rows() {
			return nil, fmt.Errorf("compression %s: %d of %d records", codec, len(records), c.rows())
		}
		proven = append(proven, codec)
	}
	return proven, nil
}
