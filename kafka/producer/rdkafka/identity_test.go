package rdkafka

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"penstock.dev/penstock/kafka/producer"
)

// TestIdentityIsAskedAgain: one answer that the coordinator could not give must not cost the epoch. A real broker does this only while
// it restarts, so a fake gives the answer.
func TestIdentityIsAskedAgain(t *testing.T) {
	cluster, err := kfake.NewCluster(kfake.NumBrokers(1))
	if err != nil {
		t.Fatal(err)
	}
	defer cluster.Close()
	initialise(t, cluster.ListenAddrs(), "job-0-1")
	var asked atomic.Int32
	cluster.ControlKey(int16(kmsg.DescribeTransactions), func(req kmsg.Request) (kmsg.Response, error, bool) {
		cluster.KeepControl()
		if asked.Add(1) > 2 {
			return nil, nil, false
		}
		resp := req.ResponseKind().(*kmsg.DescribeTransactionsResponse)
		state := kmsg.NewDescribeTransactionsResponseTransactionState()
		state.TransactionalID, state.ErrorCode = "job-0-1", kerr.UnknownServerError.Code
		resp.TransactionStates = append(resp.TransactionStates, state)
		return resp, nil, true
	})
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	d := newIdentities()
	defer d.close()
	cfg := producer.Config{BootstrapServers: cluster.ListenAddrs(), RetryBackoff: time.Millisecond}
	identity, err := d.lookUp(ctx, cfg, "job-0-1")
	if err != nil {
		t.Fatal(err)
	}
	if identity.TransactionalID != "job-0-1" || asked.Load() < 3 {
		t.Errorf("identity %+v after %d questions", identity, asked.Load())
	}
}

// TestForbiddenIdentityIsFinal: a real broker with Kafka's own authorizer refuses such a user earlier, others may not.
func TestForbiddenIdentityIsFinal(t *testing.T) {
	cluster, err := kfake.NewCluster(kfake.NumBrokers(1))
	if err != nil {
		t.Fatal(err)
	}
	defer cluster.Close()
	initialise(t, cluster.ListenAddrs(), "job-0-1")
	cluster.ControlKey(int16(kmsg.DescribeTransactions), func(req kmsg.Request) (kmsg.Response, error, bool) {
		cluster.KeepControl()
		resp := req.ResponseKind().(*kmsg.DescribeTransactionsResponse)
		state := kmsg.NewDescribeTransactionsResponseTransactionState()
		state.TransactionalID, state.ErrorCode = "job-0-1", kerr.TransactionalIDAuthorizationFailed.Code
		resp.TransactionStates = append(resp.TransactionStates, state)
		return resp, nil, true
	})
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	d := newIdentities()
	defer d.close()
	_, err = d.lookUp(ctx, producer.Config{BootstrapServers: cluster.ListenAddrs(), RetryBackoff: time.Millisecond}, "job-0-1")
	if producer.KindOf(err) != producer.BadRequest || ctx.Err() != nil || !strings.Contains(err.Error(), "grant DESCRIBE") {
		t.Errorf("kind %v of %v", producer.KindOf(err), err)
	}
}

// initialise makes the coordinator know the id.
func initialise(t *testing.T, brokers []string, id string) {
	t.Helper()
	cl, err := kgo.NewClient(kgo.SeedBrokers(brokers...))
	if err != nil {
		t.Fatal(err)
	}
	defer cl.Close()
	req := kmsg.NewPtrInitProducerIDRequest()
	req.TransactionalID, req.TransactionTimeoutMillis = &id, 60_000
	req.ProducerID, req.ProducerEpoch = -1, -1
	resp, err := req.RequestWith(context.Background(), cl)
	if err == nil {
		err = kerr.ErrorForCode(resp.ErrorCode)
	}
	if err != nil {
		t.Fatal(err)
	}
}
