//go:build faultpoints

package faultpoint

import (
	"bytes"
	"os"
	"runtime"
	"sync"
)

// leakedBytes is enough for a few dozen leaks to show beside the noise of a heap.
const leakedBytes = 1 << 20

// leaked is what nobody gives back.
var leaked struct {
	sync.Mutex
	files  []*os.File
	memory [][]byte
}

// leak takes a thread, a descriptor and touched memory, for as long as the process lives.
func leak() error {
	file, err := os.Open(os.DevNull)
	if err != nil {
		return err
	}
	go func() {
		runtime.LockOSThread()
		select {}
	}()
	leaked.Lock()
	defer leaked.Unlock()
	leaked.files = append(leaked.files, file)
	leaked.memory = append(leaked.memory, bytes.Repeat([]byte{1}, leakedBytes))
	return nil
}
