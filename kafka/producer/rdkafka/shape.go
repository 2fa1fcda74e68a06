package rdkafka

import "penstock.dev/penstock/kafka/producer"

// checkShape keeps C from reading outside of the slices.
func checkShape(r *producer.Records, n int) error {
	if err := checkColumn("value", r.Values, r.ValueOffsets, r.ValueNulls, n); err != nil {
		return err
	}
	if r.KeyOffsets != nil {
		if err := checkColumn("key", r.Keys, r.KeyOffsets, r.KeyNulls, n); err != nil {
			return err
		}
	}
	if err := checkTimestamps(r, n); err != nil {
		return err
	}
	if r.Headers != nil {
		return checkHeaders(r.Headers, n)
	}
	return nil
}

// checkTimestamps refuses what librdkafka would send otherwise than Java: 0, which it takes for the time of producing, and
// negative ones, which Java refuses.
func checkTimestamps(r *producer.Records, n int) error {
	if r.Timestamps == nil {
		return nil
	}
	if len(r.Timestamps) != n {
		return producer.Errorf(producer.Internal, "%d timestamps for %d records", len(r.Timestamps), n)
	}
	for _, t := range r.Timestamps {
		if t <= 0 && t != producer.NoTimestamp {
			return producer.Errorf(producer.FailEpoch, "a record for topic %q has the timestamp %d, librdkafka sends only positive ones: "+
				"filter such rows, or set 'penstock.enabled' = 'false' for this table", r.Topic, t)
		}
	}
	return nil
}

func checkColumn(what string, all []byte, offsets []uint32, nulls []byte, n int) error {
	if len(offsets) != n+1 {
		return producer.Errorf(producer.Internal, "%d %s offsets for %d records", len(offsets), what, n)
	}
	if len(nulls) != 0 && len(nulls) < (n+7)/8 {
		return producer.Errorf(producer.Internal, "%d bytes of %s nulls for %d records", len(nulls), what, n)
	}
	return checkOffsets(what, offsets, len(all))
}

func checkHeaders(h *producer.Headers, n int) error {
	if len(h.Ends) != n+1 || len(h.Offsets)%2 == 0 {
		return producer.Errorf(producer.Internal, "%d ends and %d offsets of headers for %d records", len(h.Ends), len(h.Offsets), n)
	}
	if err := checkOffsets("header end", h.Ends, len(h.Offsets)/2); err != nil {
		return err
	}
	return checkOffsets("header", h.Offsets, len(h.Bytes))
}

// checkOffsets: they never fall and none is above limit.
func checkOffsets(what string, offsets []uint32, limit int) error {
	last := offsets[0]
	for i, o := range offsets[1:] {
		if o < last {
			return producer.Errorf(producer.Internal, "%s offset %d of record %d is below the one before", what, o, i)
		}
		last = o
	}
	if int64(last) > int64(limit) {
		return producer.Errorf(producer.Internal, "%s offset %d is above %d", what, last, limit)
	}
	return nil
}
