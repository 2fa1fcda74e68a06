package doctor

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"penstock.dev/penstock/kafka/kafkatest"
)

const secret = "do-not-print-me"

// cluster is a fake with options; what it is asked here are connections, logins and its list of brokers.
func cluster(t *testing.T, options ...kfake.Opt) *kfake.Cluster {
	t.Helper()
	c, err := kfake.NewCluster(append([]kfake.Opt{kfake.NumBrokers(1)}, options...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// secured is a cluster behind TLS with a certificate.
func secured(t *testing.T, shown kafkatest.Issued, options ...kfake.Opt) *kfake.Cluster {
	t.Helper()
	pair, err := tls.X509KeyPair([]byte(shown.Chain), []byte(shown.Key))
	if err != nil {
		t.Fatal(err)
	}
	return cluster(t, append(options, kfake.TLS(&tls.Config{Certificates: []tls.Certificate{pair}}))...)
}

// asked is what doctor finds with these properties.
func asked(t *testing.T, lines ...string) *diagnosis {
	t.Helper()
	file := filepath.Join(t.TempDir(), "producer.properties")
	if err := os.WriteFile(file, []byte(strings.Join(lines, "\n")), 0o600); err != nil {
		t.Fatal(err)
	}
	d := &diagnosis{Examination: Examination{Properties: file, Timeout: 3 * time.Second}}
	d.brokers(context.Background())
	if text := fmt.Sprint(d.findings); strings.Contains(text, secret) {
		t.Errorf("a secret is printed: %s", text)
	}
	return d
}

func bootstrap(addresses ...string) string {
	return "bootstrap.servers=" + strings.Join(addresses, ",")
}

// closedPort is an address that nobody listens on.
func closedPort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
	return l.Addr().String()
}

func TestBrokersInTheClear(t *testing.T) {
	up, down := cluster(t).ListenAddrs()[0], closedPort(t)
	asked(t, bootstrap(up)).require(t, want{"brokers.bootstrap", OK, []string{up}}, want{"brokers.login", OK, []string{"PLAINTEXT", "1 brokers"}},
		want{"brokers.advertised", OK, nil})
	asked(t, "properties."+bootstrap(down, up)).require(t, want{"brokers.bootstrap", Fail, []string{down, "refused", "firewall"}},
		want{"brokers.bootstrap", OK, []string{up}}, want{"brokers.login", OK, nil})
	asked(t, bootstrap("no-such-host.invalid:9092")).require(t, want{"brokers.bootstrap", Fail, []string{"no-such-host.invalid", "resolve"}})
	asked(t, bootstrap("localhost")).require(t, want{"brokers.bootstrap", Fail, []string{"write host:port"}})
	asked(t, "acks=all").require(t, want{"brokers.properties", Fail, []string{"bootstrap.servers"}})
	asked(t, bootstrap(up), "security.protocol=TELNET").require(t, want{"brokers.properties", Fail, []string{"TELNET"}})
}

func TestAdvertisedListenerThatNobodyReaches(t *testing.T) {
	c := cluster(t)
	address := closedPort(t)
	_, port, _ := net.SplitHostPort(address)
	c.ControlKey(int16(kmsg.Metadata), func(request kmsg.Request) (kmsg.Response, error, bool) {
		c.KeepControl()
		answer := request.ResponseKind().(*kmsg.MetadataResponse)
		broker := kmsg.NewMetadataResponseBroker()
		broker.NodeID, broker.Host = 7, "127.0.0.1"
		fmt.Sscan(port, &broker.Port)
		answer.Brokers = append(answer.Brokers, broker)
		return answer, nil, true
	})
	asked(t, bootstrap(c.ListenAddrs()[0])).require(t, want{"brokers.bootstrap", OK, nil}, want{"brokers.login", OK, nil},
		want{"brokers.advertised", Fail, []string{address, "advertised.listeners of broker 7"}})
}

// inTheClear answers a TLS handshake as a broker does that does not know what it reads; the fake cluster is silent.
func inTheClear(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
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
			conn.Write([]byte("no such thing as TLS here"))
			conn.Close()
		}
	}()
	return l.Addr().String()
}

func TestBrokersByTLS(t *testing.T) {
	authority := kafkatest.NewAuthority(t, "trusted")
	trust := filepath.Join(t.TempDir(), "trust.pem")
	if err := os.WriteFile(trust, []byte(authority.PEM()), 0o600); err != nil {
		t.Fatal(err)
	}
	settings := []string{"security.protocol=SSL", "ssl.truststore.type=PEM", "ssl.truststore.location=" + trust}
	good := secured(t, authority.Issue("x", time.Hour, "127.0.0.1")).ListenAddrs()[0]
	asked(t, append(settings, bootstrap(good))...).require(t, want{"brokers.login", OK, []string{"SSL"}})
	expired := secured(t, authority.Issue("x", -time.Hour, "127.0.0.1")).ListenAddrs()[0]
	asked(t, append(settings, bootstrap(expired))...).require(t, want{"brokers.login", Fail, []string{"renew it"}})
	stranger := secured(t, kafkatest.NewAuthority(t, "stranger").Issue("x", time.Hour, "127.0.0.1")).ListenAddrs()[0]
	asked(t, append(settings, bootstrap(stranger))...).require(t, want{"brokers.login", Fail, []string{"ssl.truststore"}})
	misnamed := secured(t, authority.Issue("x", time.Hour, "elsewhere")).ListenAddrs()[0]
	asked(t, append(settings, bootstrap(misnamed))...).require(t, want{"brokers.login", Fail, []string{"elsewhere", "127.0.0.1"}})
	asked(t, append(settings, bootstrap(misnamed), "ssl.endpoint.identification.algorithm=")...).require(t, want{"brokers.login", OK, nil})
	asked(t, bootstrap(good)).require(t, want{"brokers.login", Fail, []string{"PLAINTEXT", "set security.protocol"}})
	asked(t, append(settings, bootstrap(inTheClear(t)))...).require(t, want{"brokers.login", Fail, []string{"does not speak TLS"}})
	asked(t, bootstrap(good), "security.protocol=SSL", "ssl.truststore.location=/some/trust.jks").
		require(t, want{"brokers.login", Warn, []string{"ssl.truststore.type = JKS", "PEM"}})
	asked(t, bootstrap(good), "security.protocol=SSL", "ssl.truststore.type=PEM", "ssl.truststore.location=/no/such/file").
		require(t, want{"brokers.properties", Fail, []string{"ssl.truststore.location"}})
}

func TestBrokersWithALogin(t *testing.T) {
	c := cluster(t, kfake.EnableSASL(), kfake.Superuser("SCRAM-SHA-512", "flink", secret))
	up := c.ListenAddrs()[0]
	settings := []string{bootstrap(up), "security.protocol=SASL_PLAINTEXT", "sasl.mechanism=SCRAM-SHA-512"}
	login := func(password string) string {
		return `sasl.jaas.config=org.apache.kafka.common.security.scram.ScramLoginModule required username="flink" password="` + password + `";`
	}
	asked(t, append(settings, login(secret))...).require(t, want{"brokers.login", OK, []string{"SASL_PLAINTEXT"}})
	// A broker answers a wrong password; the fake ends the connection.
	c.ControlKey(int16(kmsg.SASLAuthenticate), func(request kmsg.Request) (kmsg.Response, error, bool) {
		c.KeepControl()
		answer := request.ResponseKind().(*kmsg.SASLAuthenticateResponse)
		answer.ErrorCode = kerr.SaslAuthenticationFailed.Code
		return answer, nil, true
	})
	asked(t, append(settings, login("wrong"+secret))...).require(t, want{"brokers.login", Fail, []string{"sasl.jaas.config"}})
	asked(t, settings...).require(t, want{"brokers.properties", Fail, []string{`username="..."`}})
	asked(t, append(settings, "sasl.mechanism=GSSAPI")...).require(t, want{"brokers.properties", Fail, []string{"GSSAPI", "stock sink"}})
	asked(t, append(settings, "config.providers=file", "sasl.jaas.config=${file:/etc/x:login}")...).
		require(t, want{"brokers.login", Warn, []string{"sasl.jaas.config", "config.providers"}})
}
