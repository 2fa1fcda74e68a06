package history

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
	"github.com/twmb/franz-go/pkg/kversion"
)

// transactionLimit bounds one request with all its repetitions; a broker that restarts on a loaded machine takes most of it.
const transactionLimit = 90 * time.Second

// transactions sends the requests that Flink's committer and aborter send through Kafka's Java client.
type transactions struct {
	client *kgo.Client
	// refused counts commits that the broker refused because somebody has initialised the id since the seal.
	refused int
}

// newTransactions caps EndTxn at version 4, like a committer that resumes a transaction which it has not begun.
func newTransactions(addr string) (*transactions, error) {
	versions := kversion.Stable()
	versions.SetMaxKeyVersion(int16(kmsg.EndTxn), 4)
	client, err := kgo.NewClient(kgo.SeedBrokers(addr), kgo.MaxVersions(versions), kgo.RequestTimeoutOverhead(5*time.Second))
	return &transactions{client: client}, err
}

func (t *transactions) close() { t.client.Close() }

// commit returns when the broker has committed, now or before, or has refused for good. Flink's committer goes on after a refusal
// (KafkaCommitter logs it and drops the committable); whether rows are lost by it is for the judge to see.
func (t *transactions) commit(c committable) error {
	err := repeat("commit of "+c.id, func(ctx context.Context) (int16, error) {
		r := kmsg.NewPtrEndTxnRequest()
		r.TransactionalID, r.ProducerID, r.ProducerEpoch, r.Commit = c.id, c.producerID, c.epoch, true
		response, err := r.RequestWith(ctx, t.client)
		if err != nil {
			return 0, err
		}
		return response.ErrorCode, nil
	})
	if errors.Is(err, kerr.ProducerFenced) || errors.Is(err, kerr.InvalidProducerEpoch) {
		t.refused++
		return nil
	}
	return err
}

// abort aborts what an earlier attempt has left open under the id, and reports whether the id was ever used.
func (t *transactions) abort(id string) (used bool, err error) {
	err = repeat("initialisation of "+id, func(ctx context.Context) (int16, error) {
		r := kmsg.NewPtrInitProducerIDRequest()
		r.TransactionalID, r.TransactionTimeoutMillis = &id, 60_000
		r.ProducerID, r.ProducerEpoch = -1, -1
		response, err := r.RequestWith(ctx, t.client)
		if err != nil {
			return 0, err
		}
		used = response.ProducerEpoch > 0
		return response.ErrorCode, nil
	})
	return used, err
}

// repeat sends a request until its answer is final.
func repeat(what string, send func(context.Context) (int16, error)) error {
	limit, cancel := context.WithTimeout(context.Background(), transactionLimit)
	defer cancel()
	for {
		ctx, cancel := context.WithTimeout(limit, 10*time.Second)
		code, err := send(ctx)
		cancel()
		if err == nil {
			err = kerr.ErrorForCode(code)
			if err == nil {
				return nil
			}
			if !kerr.IsRetriable(err) && !errors.Is(err, kerr.ConcurrentTransactions) {
				return fmt.Errorf("%s: %w", what, err)
			}
		}
		select {
		case <-limit.Done():
			return fmt.Errorf("%s: no final answer in %v; last: %w", what, transactionLimit, err)
		case <-time.After(20 * time.Millisecond):
		}
	}
}
