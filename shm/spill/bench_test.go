package spill

import (
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// The batches of the benchmarks are as large as the extents of a client.
const benchBatch = 1<<20 - 4096

// PENSTOCK_SPILL_DIR says which disk is measured; the default is that of temporary files.
func benchDir(b *testing.B) string {
	dir, err := os.MkdirTemp(os.Getenv("PENSTOCK_SPILL_DIR"), "penstock-bench-")
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// BenchmarkDisk is the yardstick: the same bytes to one file with the same calls, in groups of GroupBytes with fdatasync behind each.
func BenchmarkDisk(b *testing.B) {
	file, err := os.Create(filepath.Join(benchDir(b), "plain"))
	if err != nil {
		b.Fatal(err)
	}
	defer file.Close()
	batch := content(1, benchBatch)
	b.SetBytes(benchBatch)
	for i := 0; b.Loop(); i++ {
		// Within maxFileBytes, as the store's files are.
		at := int64(i) % (maxFileBytes / benchBatch) * benchBatch
		if at == 0 {
			if err := file.Truncate(0); err != nil {
				b.Fatal(err)
			}
		}
		if err := kernel.writeAll(file, [][]byte{batch}, at); err != nil {
			b.Fatal(err)
		}
		if i%(GroupBytes/benchBatch) == 0 {
			if err := kernel.flush(file); err != nil {
				b.Fatal(err)
			}
		}
	}
	if err := unix.Fdatasync(int(file.Fd())); err != nil {
		b.Fatal(err)
	}
}

// BenchmarkSpill writes as one writer's credit allows: as many batches under way as a group has.
func BenchmarkSpill(b *testing.B) {
	s := open(b, Config{Directory: benchDir(b), Quota: 1 << 30})
	stream := s.NewStream(3, header)
	batch := content(1, benchBatch)
	const window = 2 * GroupBytes / benchBatch
	ended := make(chan error, window)
	var onDisk []*Batch
	b.SetBytes(benchBatch)
	under := 0
	await := func() {
		if err := <-ended; err != nil {
			b.Fatal(err)
		}
		under--
	}
	for b.Loop() {
		if under == window {
			await()
		}
		x, err := stream.Spill(messageOf(), batch, func(err error) { ended <- err })
		if err != nil {
			b.Fatal(err)
		}
		under++
		if onDisk = append(onDisk, x); len(onDisk) == 500 {
			for _, x := range onDisk[:400] {
				x.Drop()
			}
			onDisk = append([]*Batch(nil), onDisk[400:]...)
		}
	}
	for under > 0 {
		await()
	}
	for _, x := range onDisk {
		x.Drop()
	}
}

// BenchmarkReadBack reads what the page cache holds, which is what a writer that catches up soon finds; the checks are a part of it.
func BenchmarkReadBack(b *testing.B) { benchmarkReadBack(b, false) }

// BenchmarkReadBackCold drops the file from the page cache before each round.
func BenchmarkReadBackCold(b *testing.B) { benchmarkReadBack(b, true) }

func benchmarkReadBack(b *testing.B, cold bool) {
	s := open(b, Config{Directory: benchDir(b), Quota: 1 << 30})
	stream := s.NewStream(3, header)
	all := onDisk(b, stream, 60, benchBatch)
	buffer := make([]byte, all[0].Bytes())
	b.SetBytes(benchBatch)
	for i := 0; b.Loop(); i++ {
		x := all[i%len(all)]
		if cold && i%len(all) == 0 {
			b.StopTimer()
			for _, y := range all {
				if err := unix.Fadvise(int(y.file.handle.Fd()), 0, 0, unix.FADV_DONTNEED); err != nil {
					b.Fatal(err)
				}
			}
			b.StartTimer()
		}
		if err := x.read(buffer); err != nil {
			b.Fatal(err)
		}
	}
	b.StopTimer()
	for _, x := range all {
		x.Drop()
	}
}
