package rdkafka_test

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"testing"
	"time"

	"penstock.dev/penstock/integration/broker"
	"penstock.dev/penstock/kafka/producer"
	"penstock.dev/penstock/kafka/producer/rdkafka"
)

// TestWaysIn: a transaction is written, sealed and committed through every listener.
func TestWaysIn(t *testing.T) {
	b := securedBroker(t)
	client := secured.trusted.Issue("client", time.Hour)
	shown := trusting(secured.trusted)
	shown.CertificateChain, shown.PrivateKey = client.Chain, producer.NewSecret(client.Key)
	unnamed := trusting(secured.trusted)
	unnamed.SkipEndpointIdentification = true
	plain := &producer.SASL{Mechanism: producer.MechanismPlain, User: "alice", Password: producer.NewSecret(plainPassword)}
	for _, c := range []struct {
		listener string
		security producer.Security
	}{
		{"SCRAM", producer.Security{TLS: trusting(secured.trusted), SASL: scram(producer.MechanismScramSHA256, "alice")}},
		{"SCRAM", producer.Security{TLS: trusting(secured.trusted), SASL: scram(producer.MechanismScramSHA512, "alice")}},
		{"SCRAMPLAIN", producer.Security{SASL: scram(producer.MechanismScramSHA512, "alice")}},
		{"PLAIN", producer.Security{TLS: trusting(secured.trusted), SASL: plain}},
		{"OAUTH", producer.Security{TLS: trusting(secured.trusted), SASL: oauth(clientSecret)}},
		{"MUTUAL", producer.Security{TLS: shown}},
		{"ELSEWHERE", producer.Security{TLS: unnamed, SASL: nil}},
	} {
		name := c.listener
		if c.security.SASL != nil {
			name += "-" + string(c.security.SASL.Mechanism)
		}
		t.Run(name, func(t *testing.T) {
			topic := "ways-in-" + name
			createTopic(t, b, topic, 2, nil)
			cfg := through(b, c.listener, &c.security)
			cfg.Topics = []string{topic}
			requireWritten(t, b, cfg, topic+"-0-1")
		})
	}
	if scope := secured.endpoint.Scope.Load(); scope != "kafka write+all" {
		t.Errorf("the endpoint was asked for scope %q", scope)
	}
}

func oauth(secret string) *producer.SASL {
	return &producer.SASL{Mechanism: producer.MechanismOAuthBearer, ClientCredentials: &producer.ClientCredentials{
		TokenEndpoint: secured.endpoint.URL, ClientID: "client", ClientSecret: producer.NewSecret(secret), Scope: "kafka write+all",
		Extensions: map[string]string{"traceId": "7"},
	}}
}

func requireWritten(t *testing.T, b *broker.Broker, cfg producer.Config, id string) {
	t.Helper()
	const n = 1000
	o := mustOpen(t, newEngine(t), cfg, id)
	mustProduce(t, o, rows(cfg.Topics[0], "v", n))
	sealed, err := o.Seal(testContext(t, 30*time.Second), n)
	if err != nil {
		t.Fatal(err)
	}
	who := sealed.Identity()
	sealed.Release()
	ctx := testContext(t, 30*time.Second)
	if err := b.EndTransaction(ctx, id, who.ProducerID, who.ProducerEpoch, true); err != nil {
		t.Fatal(err)
	}
	// The markers of a commit land a little later.
	for ctx.Err() == nil {
		records, err := b.Records(ctx, cfg.Topics[0], true)
		if err != nil {
			t.Fatal(err)
		}
		if len(records) == n {
			return
		}
	}
	t.Fatal("the records of the committed transaction do not appear")
}

// refusal is one configuration that the cluster does not let in.
type refusal struct {
	name, listener string
	security       producer.Security
	want           []string
}

func refusals() []refusal {
	good, none := trusting(secured.trusted), trusting(secured.foreign)
	client := secured.foreign.Issue("client", time.Hour)
	foreign := trusting(secured.trusted)
	foreign.CertificateChain, foreign.PrivateKey = client.Chain, producer.NewSecret(client.Key)
	wrong := &producer.SASL{Mechanism: producer.MechanismScramSHA512, User: "alice", Password: producer.NewSecret("planted-wrong")}
	plain := &producer.SASL{Mechanism: producer.MechanismPlain, User: "alice", Password: producer.NewSecret("planted-wrong")}
	return []refusal{
		{"wrong password", "SCRAM", producer.Security{TLS: good, SASL: wrong}, []string{"properties.sasl.jaas.config"}},
		{"wrong password, plain", "PLAIN", producer.Security{TLS: good, SASL: plain}, []string{"properties.sasl.jaas.config"}},
		{"mechanism not offered", "SCRAM", producer.Security{TLS: good, SASL: plain}, []string{"properties.sasl.mechanism = PLAIN"}},
		{"untrusted broker", "TLS", producer.Security{TLS: none}, []string{"properties.ssl.truststore.*"}},
		{"expired certificate", "EXPIRED", producer.Security{TLS: good}, []string{"the certificate of the broker", "renew it"}},
		{"other name", "ELSEWHERE", producer.Security{TLS: good},
			[]string{"elsewhere.example", "properties.ssl.endpoint.identification.algorithm"}},
		{"no client certificate", "MUTUAL", producer.Security{TLS: good}, []string{"properties.ssl.keystore.*"}},
		{"foreign client certificate", "MUTUAL", producer.Security{TLS: foreign}, []string{"properties.ssl.keystore.*"}},
		{"wrong client secret", "OAUTH", producer.Security{TLS: good, SASL: oauth("planted-wrong")},
			[]string{"client.credentials.client.id, .client.secret", "invalid_client"}},
	}
}

// TestRefusalsAreFinalAndNameTheProperty: long before max.block.ms, and without the secret.
func TestRefusalsAreFinalAndNameTheProperty(t *testing.T) {
	b := securedBroker(t)
	for _, c := range refusals() {
		t.Run(c.name, func(t *testing.T) {
			cfg := through(b, c.listener, &c.security)
			var log bytes.Buffer
			e := loggingEngine(t, &log)
			start := time.Now()
			_, err := e.Init(testContext(t, 30*time.Second), cfg, "refused")
			requireRefusal(t, err, time.Since(start), c.want)
			_, err = e.OpenPlain(testContext(t, 30*time.Second), cfg)
			requireRefusal(t, err, time.Since(start), c.want)
			requireNoSecret(t, log.String())
		})
	}
}

// TestOtherProtocol: TLS and none look to each other like a connection that breaks, so the wait ends by time, and the text names the
// property.
func TestOtherProtocol(t *testing.T) {
	b := securedBroker(t)
	for listener, s := range map[string]*producer.Security{
		"SCRAMPLAIN": {TLS: trusting(secured.trusted), SASL: scram(producer.MechanismScramSHA512, "alice")},
		"TLS":        nil,
	} {
		cfg := through(b, listener, s)
		cfg.MaxBlock = 7 * time.Second
		_, err := newEngine(t).Init(testContext(t, 30*time.Second), cfg, "refused")
		want := "properties.security.protocol = " + s.Protocol()
		if producer.KindOf(err) != producer.Retry || !strings.Contains(err.Error(), want) {
			t.Errorf("no %q in %v", want, err)
		}
	}
}

// TestLibraryRefusalsAreFinal: what the check before has let through, because it came later, ends the producer as fast.
func TestLibraryRefusalsAreFinal(t *testing.T) {
	b := securedBroker(t)
	for _, c := range refusals() {
		if c.name == "wrong client secret" {
			continue // librdkafka cannot tell it from an endpoint that is down
		}
		t.Run(c.name, func(t *testing.T) {
			cfg := through(b, c.listener, &c.security)
			cfg.MaxBlock = time.Minute
			var log bytes.Buffer
			e := loggingEngine(t, &log)
			start := time.Now()
			err := rdkafka.InitUnchecked(testContext(t, 50*time.Second), e, cfg, "refused")
			requireRefusal(t, err, time.Since(start), []string{"properties."})
			err = rdkafka.PlainUnchecked(testContext(t, 50*time.Second), e, cfg, rows("t", "v", 1))
			requireRefusal(t, err, time.Since(start), []string{"properties."})
			requireNoSecret(t, log.String())
		})
	}
}

// TestIntermediateAlone: Java trusts whatever lies in its trust store, OpenSSL wants the root; the difference must be told.
func TestIntermediateAlone(t *testing.T) {
	cfg := through(securedBroker(t), "BETWEEN", &producer.Security{TLS: trusting(secured.between)})
	start := time.Now()
	_, err := newEngine(t).Init(testContext(t, 30*time.Second), cfg, "between")
	requireRefusal(t, err, time.Since(start), []string{"properties.ssl.truststore.*", "root"})
	cfg.Security = producer.NewSecurity(&producer.Security{TLS: &producer.TLS{
		CertificateAuthorities: secured.between.PEM() + secured.trusted.PEM()}})
	ready, err := newEngine(t).Init(testContext(t, 30*time.Second), cfg, "between")
	if err != nil {
		t.Fatal(err)
	}
	ready.Discard()
}

func loggingEngine(t *testing.T, log *bytes.Buffer) *rdkafka.Engine {
	t.Helper()
	e, err := rdkafka.New(slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug})))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		defer cancel()
		if err := e.Close(ctx); err != nil {
			t.Error(err)
		}
	})
	return e
}

func requireRefusal(t *testing.T, err error, took time.Duration, want []string) {
	t.Helper()
	if producer.KindOf(err) != producer.BadRequest || took > 20*time.Second {
		t.Fatalf("after %v kind %v: %v", took, producer.KindOf(err), err)
	}
	for _, words := range want {
		if !strings.Contains(err.Error(), words) {
			t.Errorf("no %q in: %v", words, err)
		}
	}
	requireNoSecret(t, err.Error())
}

func requireNoSecret(t *testing.T, text string) {
	t.Helper()
	for _, secret := range []string{"planted", awkward, plainPassword, "PRIVATE KEY"} {
		if strings.Contains(text, secret) {
			t.Errorf("%q in: %s", secret, text)
		}
	}
}

// TestRightsOfAUser: WRITE on the id and on the topic is enough, and every missing right is final and named.
func TestRightsOfAUser(t *testing.T) {
	b := securedBroker(t)
	createTopic(t, b, "rights", 1, nil)
	for _, c := range []struct {
		user   string
		grants []broker.Grant
		want   string
	}{
		{"bob", []broker.Grant{{Topic: "rights", Write: true}, {ID: "rights-bob", Write: true}}, ""},
		{"carol", []broker.Grant{{Topic: "rights", Write: true}}, "grant WRITE"},
		{"dave", []broker.Grant{{ID: "rights-dave", Write: true}}, "grant WRITE on the topic"},
		{"eve", []broker.Grant{{Topic: "rights", Write: true}, {ID: "rights-eve", Write: true}, {ID: "rights-eve", DenyDescribe: true}},
			"grant WRITE and DESCRIBE"},
	} {
		t.Run(c.user, func(t *testing.T) {
			if err := b.Allow(testContext(t, 30*time.Second), c.user, c.grants...); err != nil {
				t.Fatal(err)
			}
			cfg := through(b, "SCRAM", &producer.Security{TLS: trusting(secured.trusted),
				SASL: scram(producer.MechanismScramSHA512, c.user)})
			cfg.Topics = []string{"rights"}
			if c.want == "" {
				requireWritten(t, b, cfg, "rights-"+c.user)
				return
			}
			start := time.Now()
			err := write(testContext(t, 30*time.Second), newEngine(t), cfg, "rights-"+c.user)
			requireRefusal(t, err, time.Since(start), []string{c.want})
		})
	}
}

// write goes as far as it can with one row.
func write(ctx context.Context, e producer.Engine, cfg producer.Config, id string) error {
	ready, err := e.Init(ctx, cfg, id)
	if err != nil {
		return err
	}
	open, err := ready.Begin()
	if err != nil {
		return err
	}
	if err := open.Produce(ctx, rows(cfg.Topics[0], "v", 1)); err != nil {
		open.Discard()
		return err
	}
	sealed, err := open.Seal(ctx, 1)
	if err != nil {
		return err
	}
	sealed.Release()
	return nil
}
