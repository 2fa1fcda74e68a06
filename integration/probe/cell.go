package main

import (
	"fmt"
	"math/rand/v2"
)

const (
	// poolValues are the different values of a cell, sent in turn.
	poolValues = 1024
	// legBytes bounds a leg, counting what a record costs beside its value.
	legBytes, recordOverhead = 96 << 20, 40
	minRows, maxRows         = 8 * poolValues, 400 * poolValues
)

// cell is one combination of what is varied.
type cell struct {
	Size        int    `json:"value_bytes"`
	Compression string `json:"compression"`
	Partitions  int32  `json:"partitions"`
}

func (c cell) String() string { return fmt.Sprintf("%d-%s-%d", c.Size, c.Compression, c.Partitions) }

// rows of one leg, a multiple of poolValues.
func (c cell) rows() int {
	rows := legBytes / (c.Size + recordOverhead)
	return min(max(rows, minRows), maxRows) / poolValues * poolValues
}

// cells vary one thing at a time around one cell, or everything.
func cells(full bool) []cell {
	sizes, codecs, partitions := []int{20, 100, 300, 1024, 10_240}, []string{"none", "lz4", "zstd"}, []int32{1, 4, 16, 64}
	const size, codec, spread = 300, "none", 4
	var all []cell
	for _, s := range sizes {
		for _, c := range codecs {
			for _, p := range partitions {
				changed := 0
				for _, differs := range []bool{s != size, c != codec, p != spread} {
					if differs {
						changed++
					}
				}
				if full || changed < 2 {
					all = append(all, cell{s, c, p})
				}
			}
		}
	}
	return all
}

// pool makes values that compress about as well as JSON: words of a small vocabulary and numbers.
func (c cell) pool() []byte {
	rng := rand.New(rand.NewPCG(1, uint64(c.Size)))
	words := make([]string, 64)
	for i := range words {
		word := make([]byte, 4+rng.IntN(8))
		for j := range word {
			word[j] = byte('a' + rng.IntN(26))
		}
		words[i] = string(word)
	}
	var all []byte
	for len(all) < poolValues*c.Size {
		all = fmt.Appendf(all, `"%s":%d,`, words[rng.IntN(len(words))], rng.IntN(1_000_000))
	}
	return all[:poolValues*c.Size]
}
