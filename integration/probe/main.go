// Command probe compares producers alone, without Flink: the same values in transactions, through the daemon's engine (librdkafka
// from a C loop) and through Kafka's Java client with the defaults of Flink's sink, over value sizes, compressions and numbers of
// partitions. Both take turns on one broker. It also sees that the bundled librdkafka really writes every compression that it is asked for.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"penstock.dev/penstock/integration/broker"
)

// legLimit bounds one leg.
const legLimit = 3 * time.Minute

// client is one of the two that are compared.
type client interface {
	name() string
	pid() int
	// produce writes the rows of the cell in one committed transaction and says how long they took. file holds pool.
	produce(ctx context.Context, c cell, id, topic string, pool []byte, file string) (time.Duration, error)
	close() error
}

func main() {
	out := flag.String("out", "out/probe.json", "where the figures go")
	classpath := flag.String("classpath", "", "class path of integration/flink")
	java := flag.String("java", "java", "the JVM of Kafka's own client")
	rounds := flag.Int("rounds", 3, "how often both take their turn in each cell")
	full := flag.Bool("full", false, "every combination, instead of one thing at a time")
	flag.Parse()
	if err := run(*out, *java, *classpath, *rounds, *full); err != nil {
		fmt.Fprintln(os.Stderr, "probe:", err)
		os.Exit(1)
	}
}

func run(out, java, classpath string, rounds int, full bool) (err error) {
	if rounds < 1 || classpath == "" {
		return fmt.Errorf("-rounds %d -classpath %q: at least 1, and the class path of integration/flink", rounds, classpath)
	}
	dir, err := os.MkdirTemp("", "penstock-probe-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	b, err := broker.Start(context.Background(), broker.Options{Heap: "1g"})
	if err != nil {
		return err
	}
	defer b.Kill()
	ours, err := newNative(b)
	if err != nil {
		return err
	}
	jvm, err := startKafkaClients(java, classpath, b.Addr(), os.Stderr)
	if err != nil {
		return err
	}
	p := &probe{broker: b, dir: dir, clients: []client{jvm, ours}}
	defer func() { err = errors.Join(err, jvm.close(), ours.close()) }()
	codecs, err := p.checkCompressions(ours)
	if err != nil {
		return err
	}
	r := &report{Rounds: rounds, Compressions: codecs}
	if err := p.warmUp(); err != nil {
		return err
	}
	for _, c := range cells(full) {
		result, err := p.measure(c, rounds)
		if err != nil {
			return fmt.Errorf("%v: %w", c, err)
		}
		r.add(result)
	}
	return r.finish(out)
}

// probe holds what all legs share.
type probe struct {
	broker  *broker.Broker
	dir     string
	clients []client
	legs    int
}

// warmUp lets the JVM compile, and the broker too.
func (p *probe) warmUp() error {
	for range 2 {
		for _, c := range p.clients {
			if _, err := p.leg(c, cell{300, "none", 4}); err != nil {
				return err
			}
		}
	}
	return nil
}

func (p *probe) measure(c cell, rounds int) (*cellResult, error) {
	result := newCellResult(c)
	for range rounds {
		for _, client := range p.clients {
			got, err := p.leg(client, c)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", client.name(), err)
			}
			result.of(client.name()).add(got)
		}
	}
	return result, nil
}

// leg is one transaction on a topic of its own, which is deleted afterwards.
func (p *probe) leg(c client, of cell) (leg, error) {
	ctx, cancel := context.WithTimeout(context.Background(), legLimit)
	defer cancel()
	p.legs++
	topic := fmt.Sprintf("probe-%d-%v", p.legs, of)
	if err := p.broker.CreateTopic(ctx, topic, of.Partitions, nil); err != nil {
		return leg{}, err
	}
	pool := of.pool()
	file := filepath.Join(p.dir, of.String())
	if err := os.WriteFile(file, pool, 0o600); err != nil {
		return leg{}, err
	}
	before, err := p.times(c)
	if err != nil {
		return leg{}, err
	}
	took, err := c.produce(ctx, of, topic, topic, pool, file)
	if err != nil {
		return leg{}, err
	}
	after, err := p.times(c)
	rows := float64(of.rows())
	return leg{
		rowsPerSecond: rows / took.Seconds(),
		clientMicros:  float64((after[0] - before[0]).Microseconds()) / rows,
		brokerMicros:  float64((after[1] - before[1]).Microseconds()) / rows,
	}, err
}

// times are the processor times of the client's process and of the broker.
func (p *probe) times(c client) (times [2]time.Duration, err error) {
	for i, pid := range []int{c.pid(), p.broker.PID()} {
		if times[i], err = processorTime(pid); err != nil {
			return times, err
		}
	}
	return times, nil
}
