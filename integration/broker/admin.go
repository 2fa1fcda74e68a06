package broker

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
	"github.com/twmb/franz-go/pkg/kversion"
)

// pollEvery is how often a condition on the broker is looked at again.
const pollEvery = 100 * time.Millisecond

// await calls ready until it returns nil, the broker exits or ctx ends.
func (b *Broker) await(ctx context.Context, what string, ready func(context.Context) error) error {
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	for {
		attempt, cancel := context.WithTimeout(ctx, 5*time.Second)
		err := ready(attempt)
		cancel()
		if err == nil {
			return nil
		}
		select {
		case <-b.exited:
			return fmt.Errorf("%s: the broker has ended: %v", what, b.exitErr)
		case <-ctx.Done():
			return fmt.Errorf("%s: %w; last answer: %v", what, ctx.Err(), err)
		case <-tick.C:
		}
	}
}

// awaitReady waits for metadata and for the transaction coordinator, whose topic the broker makes on the first question.
func (b *Broker) awaitReady(ctx context.Context) error {
	adm, err := b.admin()
	if err != nil {
		return err
	}
	defer adm.Close()
	err = b.await(ctx, "waiting for the broker", func(ctx context.Context) error {
		m, err := adm.BrokerMetadata(ctx)
		if err == nil && len(m.Brokers) == 0 {
			err = errors.New("no broker in the metadata")
		}
		return err
	})
	if err != nil {
		return err
	}
	return b.await(ctx, "waiting for the transaction coordinator", func(ctx context.Context) error {
		return adm.FindTxnCoordinators(ctx, "penstock-readiness")["penstock-readiness"].Err
	})
}

func (b *Broker) admin() (*kadm.Client, error) {
	cl, err := kgo.NewClient(kgo.SeedBrokers(b.addr), kgo.RetryTimeout(5*time.Second))
	if err != nil {
		return nil, err
	}
	return kadm.NewClient(cl), nil
}

// CreateTopic creates a topic with the given number of partitions and configuration (nil: the broker's defaults), and
// returns when every partition has a leader.
func (b *Broker) CreateTopic(ctx context.Context, name string, partitions int32, config map[string]string) error {
	adm, err := b.admin()
	if err != nil {
		return err
	}
	defer adm.Close()
	values := map[string]*string{}
	for k, v := range config {
		values[k] = &v
	}
	if _, err := adm.CreateTopic(ctx, partitions, 1, values, name); err != nil {
		return fmt.Errorf("creating topic %s: %w", name, err)
	}
	return b.await(ctx, "waiting for the leaders of topic "+name, func(ctx context.Context) error {
		m, err := adm.Metadata(ctx, name)
		if err != nil {
			return err
		}
		topic := m.Topics[name]
		if topic.Err != nil {
			return topic.Err
		}
		if len(topic.Partitions) != int(partitions) {
			return fmt.Errorf("%d of %d partitions", len(topic.Partitions), partitions)
		}
		for _, p := range topic.Partitions {
			if p.Err != nil {
				return p.Err
			}
		}
		return nil
	})
}

// DeleteTopic deletes a topic and returns when no broker knows it any more.
func (b *Broker) DeleteTopic(ctx context.Context, name string) error {
	adm, err := b.admin()
	if err != nil {
		return err
	}
	defer adm.Close()
	if _, err := adm.DeleteTopic(ctx, name); err != nil {
		return fmt.Errorf("deleting topic %s: %w", name, err)
	}
	return b.await(ctx, "waiting for the end of topic "+name, func(ctx context.Context) error {
		m, err := adm.Metadata(ctx, name)
		if err == nil && m.Topics[name].Err == nil {
			err = fmt.Errorf("topic %s is still there", name)
		}
		return err
	})
}

// EndTransaction ends a transaction the way Flink's committer does at its first commit, by EndTxn version 4 with the
// identity of another client's producer.
func (b *Broker) EndTransaction(ctx context.Context, id string, producerID int64, epoch int16, commit bool) error {
	versions := kversion.Stable()
	versions.SetMaxKeyVersion(int16(kmsg.EndTxn), 4)
	cl, err := kgo.NewClient(kgo.SeedBrokers(b.addr), kgo.MaxVersions(versions))
	if err != nil {
		return err
	}
	defer cl.Close()
	req := kmsg.NewPtrEndTxnRequest()
	req.TransactionalID, req.ProducerID, req.ProducerEpoch, req.Commit = id, producerID, epoch, commit
	resp, err := req.RequestWith(ctx, cl)
	if err != nil {
		return err
	}
	return kerr.ErrorForCode(resp.ErrorCode)
}
