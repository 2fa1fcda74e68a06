package rdkafka_test

import (
	"context"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"penstock.dev/penstock/integration/broker"
	"penstock.dev/penstock/kafka/kafkatest"
	"penstock.dev/penstock/kafka/producer"
)

const (
	// awkward holds what quoting, CSV and C strings could trip over.
	awkward       = `pl"ant;ed\pass=wörd, 'x'`
	clientSecret  = "planted:client/secret+"
	plainPassword = `pl;anted=plain"word\`
)

// secured is one protected broker for all tests that want it.
var secured struct {
	once     sync.Once
	broker   *broker.Broker
	trusted  *kafkatest.Authority
	foreign  *kafkatest.Authority
	between  *kafkatest.Authority // issued by trusted
	endpoint *kafkatest.TokenEndpoint
	dir      string
	err      error
}

// tbOfPackage lets helpers clean up at the end of the package instead of the test that came first.
type tbOfPackage struct {
	testing.TB
	dir string
}

func (tbOfPackage) Cleanup(func()) {}

func (t tbOfPackage) TempDir() string { return t.dir }

func securedBroker(t *testing.T) *broker.Broker {
	t.Helper()
	secured.once.Do(func() {
		dir, err := os.MkdirTemp("", "penstock-secured-")
		if err != nil {
			secured.err = err
			return
		}
		secured.dir = dir
		tb := tbOfPackage{t, dir}
		secured.trusted = kafkatest.NewAuthority(tb, "trusted")
		secured.foreign = kafkatest.NewAuthority(tb, "foreign")
		secured.between = secured.trusted.Intermediate("between")
		secured.endpoint = kafkatest.NewTokenEndpoint(tb, "client", clientSecret)
		secured.broker, secured.err = broker.Start(context.Background(), securedOptions(dir))
		if secured.err == nil {
			secured.err = addUsers(secured.broker)
		}
	})
	if secured.err != nil {
		t.Fatal(secured.err)
	}
	return secured.broker
}

// securedOptions has one listener for each way to get in or to be refused.
func securedOptions(dir string) broker.Options {
	good := secured.trusted.Issue("broker", 24*time.Hour, "127.0.0.1")
	expired := secured.trusted.Issue("broker", -time.Hour, "127.0.0.1")
	elsewhere := secured.trusted.Issue("broker", 24*time.Hour, "elsewhere.example")
	mutual := with(store(good), "ssl.client.auth", "required")
	mutual["ssl.truststore.type"] = "PEM"
	mutual["ssl.truststore.certificates"] = secured.trusted.PEM()
	scramModule := "org.apache.kafka.common.security.scram.ScramLoginModule required;"
	scram := map[string]string{
		"sasl.enabled.mechanisms":               "SCRAM-SHA-256,SCRAM-SHA-512",
		"scram-sha-256.sasl.jaas.config":        scramModule,
		"scram-sha-512.sasl.jaas.config":        scramModule,
		"connections.max.reauth.ms":             "600000",
		"ssl.endpoint.identification.algorithm": "",
	}
	plain := map[string]string{
		"sasl.enabled.mechanisms": "PLAIN",
		"plain.sasl.jaas.config": `org.apache.kafka.common.security.plain.PlainLoginModule required user_alice="` +
			`pl;anted=plain\"word\\` + `";`,
	}
	oauth := map[string]string{
		"sasl.enabled.mechanisms":                        "OAUTHBEARER",
		"oauthbearer.sasl.jaas.config":                   "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule required;",
		"oauthbearer.sasl.server.callback.handler.class": "org.apache.kafka.common.security.oauthbearer.OAuthBearerValidatorCallbackHandler",
		"sasl.oauthbearer.jwks.endpoint.url":             "file://" + secured.endpoint.KeySet,
		"sasl.oauthbearer.expected.audience":             "penstock",
	}
	return broker.Options{
		Dir: filepath.Join(dir, "broker"),
		Settings: map[string]string{
			"authorizer.class.name":          "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
			"super.users":                    "User:ANONYMOUS;User:alice;User:client;User:CN=client",
			"allow.everyone.if.no.acl.found": "false",
		},
		SystemProperties: map[string]string{
			"org.apache.kafka.sasl.oauthbearer.allowed.urls": "file://" + secured.endpoint.KeySet,
		},
		Listeners: []broker.Listener{
			{Name: "TLS", Protocol: "SSL", Settings: store(good)},
			{Name: "MUTUAL", Protocol: "SSL", Settings: mutual},
			{Name: "EXPIRED", Protocol: "SSL", Settings: store(expired)},
			{Name: "BETWEEN", Protocol: "SSL", Settings: store(secured.between.Issue("broker", 24*time.Hour, "127.0.0.1"))},
			{Name: "ELSEWHERE", Protocol: "SSL", Settings: store(elsewhere)},
			{Name: "SCRAM", Protocol: "SASL_SSL", Settings: merge(scram, store(good))},
			{Name: "SCRAMPLAIN", Protocol: "SASL_PLAINTEXT", Settings: scram},
			{Name: "PLAIN", Protocol: "SASL_SSL", Settings: merge(plain, store(good))},
			{Name: "OAUTH", Protocol: "SASL_SSL", Settings: merge(oauth, store(good))},
		},
	}
}

// store are the settings of a listener that shows a certificate.
func store(i kafkatest.Issued) map[string]string {
	return map[string]string{
		"ssl.keystore.type": "PEM", "ssl.keystore.certificate.chain": i.Chain, "ssl.keystore.key": i.Key,
	}
}

func with(m map[string]string, key, value string) map[string]string {
	return merge(m, map[string]string{key: value})
}

func merge(all ...map[string]string) map[string]string {
	out := map[string]string{}
	for _, m := range all {
		for k, v := range m {
			out[k] = v
		}
	}
	return out
}

// addUsers makes alice, who may do everything, and others, who may do what a test grants.
func addUsers(b *broker.Broker) error {
	cl, err := kgo.NewClient(kgo.SeedBrokers(b.Addr()))
	if err != nil {
		return err
	}
	defer cl.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	// A request may name each user once.
	for _, mechanism := range []kadm.ScramMechanism{kadm.ScramSha256, kadm.ScramSha512} {
		var users []kadm.UpsertSCRAM
		for _, user := range []string{"alice", "bob", "carol", "dave", "eve", "frank"} {
			users = append(users, kadm.UpsertSCRAM{User: user, Mechanism: mechanism, Iterations: 4096, Password: awkward})
		}
		altered, err := kadm.NewClient(cl).AlterUserSCRAMs(ctx, nil, users)
		if err == nil {
			err = altered.Error()
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// scram is user's way in by SCRAM.
func scram(mechanism producer.Mechanism, user string) *producer.SASL {
	return &producer.SASL{Mechanism: mechanism, User: user, Password: producer.NewSecret(awkward)}
}

func trusting(a *kafkatest.Authority) *producer.TLS {
	return &producer.TLS{CertificateAuthorities: a.PEM()}
}

// through is the configuration of a client of one listener.
func through(b *broker.Broker, listener string, s *producer.Security) producer.Config {
	cfg := config(b.AddrOf(listener))
	cfg.Security = producer.NewSecurity(s)
	return cfg
}
