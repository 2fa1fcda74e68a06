package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

// kafkaClients is one JVM with Kafka's own producer, which lives as long as the probe, so that it gets warm.
type kafkaClients struct {
	cmd     *exec.Cmd
	in      io.WriteCloser
	answers chan string
}

// startKafkaClients starts dev.penstock.integration.probe.ProducerProbe. Its standard error goes to errors.
func startKafkaClients(java, classpath, servers string, errors io.Writer) (*kafkaClients, error) {
	cmd := exec.Command(java, "-Xmx512m", "-cp", classpath, "dev.penstock.integration.probe.ProducerProbe", servers)
	cmd.Stderr = errors
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("starting the JVM: %w", err)
	}
	k := &kafkaClients{cmd, in, make(chan string)}
	go func() {
		defer close(k.answers)
		for lines := bufio.NewScanner(out); lines.Scan(); {
			if answer, ok := strings.CutPrefix(lines.Text(), "LEG "); ok {
				k.answers <- answer
			}
		}
	}()
	return k, nil
}

func (k *kafkaClients) name() string { return "kafka_clients" }

func (k *kafkaClients) pid() int { return k.cmd.Process.Pid }

func (k *kafkaClients) produce(ctx context.Context, c cell, id, topic string, _ []byte, file string) (time.Duration, error) {
	if _, err := fmt.Fprintln(k.in, id, topic, c.Compression, c.rows(), file, c.Size); err != nil {
		return 0, fmt.Errorf("the JVM has ended: %w", err)
	}
	select {
	case <-ctx.Done():
		return 0, fmt.Errorf("the JVM does not answer: %w", ctx.Err())
	case answer, ok := <-k.answers:
		if !ok {
			return 0, fmt.Errorf("the JVM has ended; is integration/flink built? make classpath-with")
		}
		var nanos int64
		_, err := fmt.Sscan(answer, &nanos)
		return time.Duration(nanos), err
	}
}

func (k *kafkaClients) close() error {
	if err := k.in.Close(); err != nil {
		return err
	}
	timer := time.AfterFunc(10*time.Second, func() { _ = k.cmd.Process.Kill() })
	defer timer.Stop()
	return k.cmd.Wait()
}
