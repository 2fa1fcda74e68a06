package main

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"time"

	"penstock.dev/penstock/shm"
	"penstock.dev/penstock/shm/shmtest"
)

// clientArgument makes this program play the client.
const clientArgument = "client"

// rounds is how many batches each measurement sends.
const rounds = 200_000

// Descriptors of the client: the table and the data segment, behind the standard three.
const (
	tableFD = 3
	dataFD  = 4
)

var errStuck = errors.New("the other process did not answer for ten seconds")

// twoProcessFigures: a client process parks, this one claims and settles, both polling; half of the time between two parks is one way.
func twoProcessFigures() ([]figure, error) {
	var figures []figure
	for _, length := range []uint64{1 << 10, 1 << 20, 64 << 20} {
		samples, err := pingPong(length)
		if err != nil {
			return nil, err
		}
		figures = append(figures, times(fmt.Sprintf("park -> claim, two processes, one way, %d KiB", length>>10), samples, time.Nanosecond, 300, "p50"))
	}
	return figures, nil
}

func pingPong(length uint64) ([]time.Duration, error) {
	p, err := newPair((int64(length) + 1<<20) &^ (1<<16 - 1))
	if err != nil {
		return nil, err
	}
	defer p.arena.Close()
	cmd := exec.Command(os.Args[0], clientArgument)
	cmd.Env = append(os.Environ(), fmt.Sprintf("BENCH=%d %d %d", p.table.Segment().Bytes(), p.data.Bytes(), length))
	cmd.Stderr = os.Stderr
	for _, s := range []*shm.Segment{p.table.Segment(), p.data} {
		if err := s.WithFD(func(fd int) error {
			file, err := duplicate(fd)
			cmd.ExtraFiles = append(cmd.ExtraFiles, file)
			return err
		}); err != nil {
			return nil, err
		}
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	for _, file := range cmd.ExtraFiles {
		_ = file.Close()
	}
	served := serve(p)
	var samples []time.Duration
	for lines := bufio.NewScanner(out); lines.Scan(); {
		nanos, err := strconv.ParseInt(strings.TrimSpace(lines.Text()), 10, 64)
		if err != nil {
			return nil, err
		}
		samples = append(samples, time.Duration(nanos))
	}
	if err := errors.Join(served, cmd.Wait()); err != nil {
		return nil, err
	}
	if len(samples) == 0 {
		return nil, errors.New("the client measured nothing")
	}
	return samples, nil
}

// serve claims and settles what the client parks.
func serve(p *pair) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	slot := p.table.First()
	for generation := uint32(0); generation < rounds; generation++ {
		if err := spin(func() bool { return p.peer.Word(slot).State() == shm.Parked }); err != nil {
			return err
		}
		e, err := p.view.Claim(slot, generation)
		if err != nil {
			return err
		}
		e.Release()
		if err := p.table.Settle(slot, generation, shm.Daemon); err != nil {
			return err
		}
	}
	return nil
}

// spin polls without a pause; every ten million looks it asks the clock.
func spin(ready func() bool) error {
	for end := time.Now().Add(10 * time.Second); time.Now().Before(end); {
		for range 10_000_000 {
			if ready() {
				return nil
			}
		}
	}
	return errStuck
}

// playClient parks, waits until the slot is free, and prints half of the time for each hundred batches.
func playClient() error {
	var tableBytes, dataBytes int64
	var length uint64
	if _, err := fmt.Sscanf(os.Getenv("BENCH"), "%d %d %d", &tableBytes, &dataBytes, &length); err != nil {
		return err
	}
	tableSegment, err := shmtest.Map(tableFD, tableBytes)
	if err != nil {
		return err
	}
	data, err := shmtest.Map(dataFD, dataBytes)
	if err != nil {
		return err
	}
	table := shmtest.TableOf(tableSegment, session)
	d := shmtest.Descriptor{SegmentID: data.ID(), SchemaTag: 1, Offset: shm.SegmentHeaderBytes, Length: length, Rows: 1, Sequence: 1}
	runtime.LockOSThread()
	out := bufio.NewWriter(os.Stdout)
	const group = 100
	for range rounds / group {
		start := time.Now()
		for range group {
			if _, err := table.Park(table.First(), d); err != nil {
				return err
			}
			if err := spin(func() bool { return table.Word(table.First()).State() == shm.Free }); err != nil {
				return err
			}
		}
		fmt.Fprintln(out, int64(time.Since(start))/group/2)
	}
	return out.Flush()
}
