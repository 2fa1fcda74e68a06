package pipeline

import (
	"fmt"
	"strings"
	"testing"

	"penstock.dev/penstock/kafka/producer"
	pb "penstock.dev/penstock/proto/gen/penstock/v1"
)

func TestSecurityKeepsEveryFieldAndHidesSecrets(t *testing.T) {
	config := producerConfig(&pb.OpenWriter{Topic: "t", Kafka: &pb.KafkaConfig{Security: &pb.Security{
		Tls: &pb.Tls{CertificateAuthorities: []byte("ca"), CertificateChain: []byte("chain"), PrivateKey: []byte("planted-key"),
			SkipEndpointIdentification: true},
		Sasl: &pb.Sasl{Mechanism: "OAUTHBEARER", User: &pb.UserPassword{Name: "me", Password: []byte("planted-password")},
			ClientCredentials: &pb.ClientCredentials{TokenEndpoint: "http://h", ClientId: "id", ClientSecret: []byte("planted-secret"),
				Scope: "s", Extensions: map[string]string{"a": "b"}, CertificateAuthorities: []byte("other")}},
	}}})
	s := config.Security
	credentials := s.SASL.ClientCredentials
	got := fmt.Sprint(s.TLS.CertificateAuthorities, s.TLS.CertificateChain, s.TLS.PrivateKey.Reveal(), s.TLS.SkipEndpointIdentification,
		s.SASL.Mechanism, s.SASL.User, s.SASL.Password.Reveal(), credentials.TokenEndpoint, credentials.ClientID,
		credentials.ClientSecret.Reveal(), credentials.Scope, credentials.Extensions, credentials.CertificateAuthorities)
	want := fmt.Sprint("ca", "chain", "planted-key", true, producer.MechanismOAuthBearer, "me", "planted-password", "http://h", "id",
		"planted-secret", "s", map[string]string{"a": "b"}, "other")
	if got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if printed := fmt.Sprintf("%+v %+v %+v %+v", config, *s.TLS, *s.SASL, *credentials); strings.Contains(printed, "planted") {
		t.Errorf("a secret is printed: %s", printed)
	}
	if s.Fingerprint() == "" || producerConfig(&pb.OpenWriter{Topic: "t", Kafka: &pb.KafkaConfig{}}).Security != nil {
		t.Error("no fingerprint, or security out of nothing")
	}
}
