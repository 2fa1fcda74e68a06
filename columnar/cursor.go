package columnar

import (
	"encoding/binary"
	"fmt"
	"math/bits"
)

// cursor walks the node table and the buffer table in the order of the type tree.
type cursor struct {
	body    []byte
	nodes   []byte
	buffers []byte
	data    int64 // the first byte behind the tables
	limit   int64 // of elements without bytes
}

// node takes the next entry of the node table.
func (c *cursor) node() (length, nulls int64) {
	length = int64(binary.LittleEndian.Uint64(c.nodes))
	nulls = int64(binary.LittleEndian.Uint64(c.nodes[8:]))
	c.nodes = c.nodes[nodeBytes:]
	return length, nulls
}

// buffer takes the next entry of the buffer table. An empty buffer may point anywhere.
func (c *cursor) buffer(name string) ([]byte, error) {
	offset := int64(binary.LittleEndian.Uint64(c.buffers))
	length := int64(binary.LittleEndian.Uint64(c.buffers[8:]))
	c.buffers = c.buffers[bufferBytes:]
	size := int64(len(c.body))
	switch {
	case length == 0:
		return nil, nil
	case length < 0 || offset < c.data || offset > size || length > size-offset:
		return nil, malformed("%s buffer at %d with %d bytes is outside the data, %d to %d", name, offset, length, c.data, size)
	case offset%batchAlign != 0:
		return nil, malformed("%s buffer at %d is not at a multiple of %d", name, offset, batchAlign)
	}
	return c.body[offset : offset+length : offset+length], nil
}

// atLeast takes the next buffer and checks that it has need bytes; it returns exactly those.
func (c *cursor) atLeast(name string, need int64) ([]byte, error) {
	b, err := c.buffer(name)
	if err != nil {
		return nil, err
	}
	if int64(len(b)) < need {
		return nil, malformed("%s buffer has %d bytes, needs %d", name, len(b), need)
	}
	return b[:need:need], nil
}

func malformed(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{ErrMalformed}, args...)...)
}

// countOnes counts the set bits among the first n.
func countOnes(b []byte, n int64) int64 {
	ones := 0
	full := b[: n/8 : n/8]
	for len(full) >= 8 {
		ones += bits.OnesCount64(binary.LittleEndian.Uint64(full))
		full = full[8:]
	}
	for _, x := range full {
		ones += bits.OnesCount8(x)
	}
	if rest := n % 8; rest != 0 {
		ones += bits.OnesCount8(b[n/8] & (1<<rest - 1))
	}
	return int64(ones)
}
