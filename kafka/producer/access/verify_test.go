package access

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"strings"
	"testing"
	"time"

	"penstock.dev/penstock/kafka/kafkatest"
	"penstock.dev/penstock/kafka/producer"
)

// listen serves handshakes with a certificate on loopback until the test ends.
func listen(t *testing.T, shown kafkatest.Issued) string {
	t.Helper()
	cert, err := tls.X509KeyPair([]byte(shown.Chain), []byte(shown.Key))
	if err != nil {
		t.Fatal(err)
	}
	l, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{Certificates: []tls.Certificate{cert}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				// The client's half decides.
				_ = conn.(*tls.Conn).HandshakeContext(context.Background())
				conn.Close()
			}()
		}
	}()
	return l.Addr().String()
}

// TestWhoIsTrusted: as Java decides, and every refusal is final and says what to change.
func TestWhoIsTrusted(t *testing.T) {
	trusted, foreign := kafkatest.NewAuthority(t, "trusted"), kafkatest.NewAuthority(t, "foreign")
	byName := trusted.Issue("localhost", time.Hour)
	listed := trusted.Issue("localhost", time.Hour, "elsewhere.example")
	for _, c := range []struct {
		name  string
		shown kafkatest.Issued
		cas   string
		host  string
		skip  bool
		want  string // of the refusal; empty: let in
	}{
		{"an address", trusted.Issue("x", time.Hour, "127.0.0.1"), trusted.PEM(), "127.0.0.1", false, ""},
		{"the common name where no names are listed", byName, trusted.PEM(), "localhost", false, ""},
		{"a common name is no address", byName, trusted.PEM(), "127.0.0.1", false, "endpoint.identification"},
		{"listed names win over the common name", listed, trusted.PEM(), "localhost", false, "elsewhere.example"},
		{"names do not matter", listed, trusted.PEM(), "localhost", true, ""},
		{"the certificate itself", byName, byName.Chain, "localhost", false, ""},
		{"a foreign issuer", byName, foreign.PEM(), "localhost", false, "properties.ssl.truststore.*"},
		{"a foreign issuer, names do not matter", byName, foreign.PEM(), "localhost", true, "properties.ssl.truststore.*"},
		{"one of two issuers", byName, foreign.PEM() + trusted.PEM(), "localhost", false, ""},
		{"expired", trusted.Issue("localhost", -time.Hour), trusted.PEM(), "localhost", true, "renew it"},
	} {
		t.Run(c.name, func(t *testing.T) {
			a, err := New(producer.NewSecurity(&producer.Security{
				TLS: &producer.TLS{CertificateAuthorities: c.cas, SkipEndpointIdentification: c.skip}}))
			if err != nil {
				t.Fatal(err)
			}
			_, port, _ := net.SplitHostPort(listen(t, c.shown))
			conn, err := a.dial(context.Background(), "tcp", net.JoinHostPort(c.host, port))
			if err == nil {
				conn.Close()
			}
			if (err == nil) != (c.want == "") {
				t.Fatalf("error %v", err)
			}
			if c.want != "" {
				requireRefusal(t, a.Refusal(err), c.want)
				requireRefusal(t, <-a.refusals, c.want)
			}
		})
	}
}

func requireRefusal(t *testing.T, err error, want string) {
	t.Helper()
	if producer.KindOf(err) != producer.BadRequest || !strings.Contains(err.Error(), want) {
		t.Errorf("no %q in %v (kind %v)", want, err, producer.KindOf(err))
	}
}

func TestWhatCannotBeUsed(t *testing.T) {
	authority := kafkatest.NewAuthority(t, "trusted")
	one, other := authority.Issue("a", time.Hour), authority.Issue("b", time.Hour)
	oauth := func(endpoint string) *producer.Security {
		return &producer.Security{SASL: &producer.SASL{Mechanism: producer.MechanismOAuthBearer,
			ClientCredentials: &producer.ClientCredentials{TokenEndpoint: endpoint}}}
	}
	for want, s := range map[string]*producer.Security{
		"properties.ssl.truststore.*": {TLS: &producer.TLS{CertificateAuthorities: "planted"}},
		"properties.ssl.keystore.*": {TLS: &producer.TLS{CertificateAuthorities: authority.PEM(), CertificateChain: one.Chain,
			PrivateKey: producer.NewSecret(other.Key)}},
		"needs client credentials":     {SASL: &producer.SASL{Mechanism: producer.MechanismOAuthBearer}},
		"token.endpoint.url must be":   oauth("file:///planted"),
		"token.endpoint.url must be a": oauth("http://"),
	} {
		_, err := New(s)
		requireRefusal(t, err, strings.TrimSuffix(want, " a"))
		if strings.Contains(err.Error(), "planted") {
			t.Errorf("a value is repeated: %v", err)
		}
	}
	if a, err := New(nil); err != nil || len(a.Options()) != 0 || a.Check(context.Background(), nil) != nil {
		t.Errorf("no security: %v", err)
	}
}

// TestFaultsThatPass: what may go better the next time is no refusal.
func TestFaultsThatPass(t *testing.T) {
	a, err := New(&producer.Security{SASL: &producer.SASL{Mechanism: producer.MechanismPlain}})
	if err != nil {
		t.Fatal(err)
	}
	for _, err := range []error{nil, errors.New("EOF"), context.DeadlineExceeded, &net.OpError{Op: "dial", Err: errors.New("refused")}} {
		if refusal := a.Refusal(err); refusal != nil {
			t.Errorf("%v became %v", err, refusal)
		}
	}
}
