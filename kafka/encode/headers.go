package encode

// Headers are those of all records of a batch in flat arrays. The headers of record i are k from Ends[i] to before Ends[i+1];
// the key of header k is Bytes[Offsets[2k]:Offsets[2k+1]], its value Bytes[Offsets[2k+1]:Offsets[2k+2]]. No value is null.
type Headers struct {
	// Ends has one element more than there are records; the first is 0.
	Ends []uint32
	// Offsets has two elements for each header and one more.
	Offsets []uint32
	Bytes   []byte
}

// Of is the range of the headers of record i.
func (h *Headers) Of(i int) (from, to int) { return int(h.Ends[i]), int(h.Ends[i+1]) }

// Header is the key and the value of header k; both alias Bytes.
func (h *Headers) Header(k int) (key, value []byte) {
	return h.Bytes[h.Offsets[2*k]:h.Offsets[2*k+1]], h.Bytes[h.Offsets[2*k+1]:h.Offsets[2*k+2]]
}

func (h *Headers) reset() {
	h.Ends, h.Offsets, h.Bytes = append(h.Ends[:0], 0), append(h.Offsets[:0], 0), h.Bytes[:0]
}

// appendHeaders reads the headers of the selected rows. Entries keep their order; the key is what StringData.toString() returns.
// An entry whose key or value is null is left out: that is the connector's rule up to 5.0 (KafkaDynamicSink.WritableMetadata);
// from 5.1 on it keeps null values (FLINK-39792).
func (e *RecordEncoder) appendHeaders(c *cell) error {
	h := &e.headers
	h.reset()
	keys, values := &c.children[0], &c.children[1]
	for i := range e.sel.count {
		e.row = e.sel.at(i)
		from, to := 0, 0
		if !c.isNull(e.row) {
			var ok bool
			if from, to, ok = c.listSpan(e.row); !ok {
				return badBatchf("row %d, column %q: entries %d to %d of %d", e.row, c.path, from, to, c.listLength())
			}
		}
		for k := from; k < to; k++ {
			if keys.isNull(k) || values.isNull(k) {
				continue
			}
			h.Bytes = appendText(h.Bytes, keys.bytes(k))
			h.Offsets = append(h.Offsets, uint32(len(h.Bytes)))
			h.Bytes = append(h.Bytes, values.bytes(k)...)
			h.Offsets = append(h.Offsets, uint32(len(h.Bytes)))
			if len(h.Bytes) > e.Value.MaxBytes {
				return badBatchf("row %d: the headers of the batch are larger than %d bytes", e.row, e.Value.MaxBytes)
			}
		}
		h.Ends = append(h.Ends, uint32(len(h.Offsets)/2))
	}
	return nil
}
