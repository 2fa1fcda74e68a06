package rdkafka

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"penstock.dev/penstock/kafka/producer"
	"penstock.dev/penstock/kafka/producer/access"
)

// adminIdle is how long the connections for look-ups outlive the last one; one checkpoint interval should find them open.
const adminIdle = 2 * time.Minute

// identities asks transaction coordinators who owns an id. librdkafka cannot: it has neither a getter for the identity nor
// DescribeTransactions. There is one admin client for each list of bootstrap servers and way to get in, created when first needed and
// closed when idle.
type identities struct {
	mu      sync.Mutex
	clients map[string]*admin
}

// admin is one shared client. users and idle are guarded by identities.mu.
type admin struct {
	*kadm.Client
	raw    *kgo.Client
	access *access.Access
	users  int
	idle   *time.Timer
}

// clusterKey names the cluster that cfg means and who asks it; it is not for texts.
func clusterKey(cfg producer.Config) string {
	return strings.Join(cfg.BootstrapServers, ",") + "\x00" + strconv.FormatBool(cfg.CanonicalBootstrap) + cfg.Security.Fingerprint()
}

func newIdentities() *identities { return &identities{clients: map[string]*admin{}} }

// acquire hands out the client for cfg; release it with the returned function.
func (d *identities) acquire(cfg producer.Config) (*admin, func(), error) {
	key := clusterKey(cfg)
	d.mu.Lock()
	defer d.mu.Unlock()
	a := d.clients[key]
	if a == nil {
		var err error
		if a, err = newAdmin(cfg); err != nil {
			return nil, nil, err
		}
		a.idle = time.AfterFunc(adminIdle, func() { d.closeIdle(key, a) })
		d.clients[key] = a
	}
	a.users++
	return a, func() { d.release(a) }, nil
}

func newAdmin(cfg producer.Config) (*admin, error) {
	in, err := access.New(cfg.Security)
	if err != nil {
		return nil, err
	}
	options := append(in.Options(), kgo.SeedBrokers(seeds(cfg)...), kgo.ClientID("penstock-identity"))
	raw, err := kgo.NewClient(options...)
	if err != nil {
		return nil, producer.Errorf(producer.BadRequest, "properties.bootstrap.servers = %s: %w",
			strings.Join(cfg.BootstrapServers, ","), err)
	}
	return &admin{Client: kadm.NewClient(raw), raw: raw, access: in}, nil
}

// check returns the reason when the cluster does not let this client in and never will, nil otherwise.
func (d *identities) check(ctx context.Context, cfg producer.Config) error {
	if cfg.Security == nil {
		return nil
	}
	a, release, err := d.acquire(cfg)
	if err != nil {
		return err
	}
	defer release()
	return a.access.Check(ctx, a.raw)
}

func (d *identities) release(a *admin) {
	d.mu.Lock()
	defer d.mu.Unlock()
	a.users--
	a.idle.Reset(adminIdle)
}

func (d *identities) closeIdle(key string, a *admin) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if a.users > 0 || d.clients[key] != a {
		return // release starts the timer again
	}
	delete(d.clients, key)
	a.Close()
}

func (d *identities) close() {
	d.mu.Lock()
	defer d.mu.Unlock()
	for key, a := range d.clients {
		a.idle.Stop()
		a.Close()
		delete(d.clients, key)
	}
}

// lookUp is called after init and before begin, when the answer can only be the producer that was just initialised or one
// that has fenced it since. A question that got no answer is asked again until ctx ends: a broker that restarts must not cost an
// epoch.
func (d *identities) lookUp(ctx context.Context, cfg producer.Config, id string) (producer.Identity, error) {
	for {
		identity, err := d.describe(ctx, cfg, id)
		if err == nil || producer.KindOf(err) != producer.Retry {
			return identity, err
		}
		select {
		case <-ctx.Done():
			return producer.Identity{}, err
		case <-time.After(max(cfg.RetryBackoff, time.Millisecond)):
		}
	}
}

// describe asks once.
func (d *identities) describe(ctx context.Context, cfg producer.Config, id string) (producer.Identity, error) {
	cl, release, err := d.acquire(cfg)
	if err != nil {
		return producer.Identity{}, err
	}
	defer release()
	all, err := cl.DescribeTransactions(ctx, id)
	txn := all[id]
	if err == nil {
		err = txn.Err
	}
	if refusal := cl.access.Refusal(err); refusal != nil {
		return producer.Identity{}, refusal
	}
	switch {
	case errors.Is(err, kerr.TransactionalIDAuthorizationFailed):
		return producer.Identity{}, producer.Errorf(producer.BadRequest, "the transactional id %q may not be described by this user, "+
			"which Penstock needs beside WRITE to learn the identity of its producer: grant DESCRIBE on transactional ids with the "+
			"prefix in sink.transactional-id-prefix", id)
	case err != nil:
		return producer.Identity{}, producer.Errorf(producer.Retry, "asking the coordinator of %q for the identity of its "+
			"producer: %w", id, err)
	case txn.TxnID != id:
		return producer.Identity{}, producer.Errorf(producer.Retry, "the coordinator does not know %q right after its "+
			"initialisation", id)
	case txn.State == "Ongoing":
		return producer.Identity{}, producer.Errorf(producer.Fenced, "transactional id %q: another producer has opened a "+
			"transaction right after the initialisation: another attempt has taken it over, or another sink or job has the same "+
			"sink.transactional-id-prefix", id)
	}
	return producer.Identity{TransactionalID: id, ProducerID: txn.ProducerID, ProducerEpoch: txn.ProducerEpoch}, nil
}

// maxTransactionTimeout is the broker's transaction.max.timeout.ms, 0 when it does not tell; only used in error texts.
func (d *identities) maxTransactionTimeout(ctx context.Context, cfg producer.Config) time.Duration {
	ctx, cancel := context.WithTimeout(ctx, 3*time.Second)
	defer cancel()
	cl, release, err := d.acquire(cfg)
	if err != nil {
		return 0
	}
	defer release()
	brokers, err := cl.ListBrokers(ctx)
	if err != nil || len(brokers) == 0 {
		return 0
	}
	configs, err := cl.DescribeBrokerConfigs(ctx, brokers[0].NodeID)
	if err != nil || len(configs) == 0 {
		return 0
	}
	for _, c := range configs[0].Configs {
		if c.Key == "transaction.max.timeout.ms" {
			ms, _ := strconv.ParseInt(c.MaybeValue(), 10, 64)
			return time.Duration(ms) * time.Millisecond
		}
	}
	return 0
}
