package shm

import "unsafe"

// WordAt is the 8-byte word at offset of mapped memory, for atomic access. It panics when the word does not lie within mem
// or is not at a multiple of 8, which is a defect of the caller: offsets from foreign memory never get here.
func WordAt(mem []byte, offset int) *uint64 {
	p := unsafe.Pointer(unsafe.SliceData(mem[offset : offset+8]))
	if uintptr(p)%8 != 0 {
		panic("shm: unaligned word")
	}
	return (*uint64)(p)
}

// littleEndian tells whether a word in memory has the byte order of LAYOUT.md, so that atomic access needs no swapping.
func littleEndian() bool {
	x := uint16(1)
	return *(*byte)(unsafe.Pointer(&x)) == 1
}
