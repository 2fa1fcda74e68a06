package rdkafka

import (
	"strings"
	"testing"

	"penstock.dev/penstock/kafka/producer"
)

func secure(s *producer.Security) producer.Config {
	cfg := valid()
	cfg.Security = producer.NewSecurity(s)
	return cfg
}

func TestSecuritySettings(t *testing.T) {
	tls := &producer.TLS{CertificateAuthorities: "ca", CertificateChain: "chain", PrivateKey: producer.NewSecret("key")}
	scram := &producer.SASL{Mechanism: producer.MechanismScramSHA256, User: "me", Password: producer.NewSecret(`a"b\`)}
	oauth := &producer.SASL{Mechanism: producer.MechanismOAuthBearer, ClientCredentials: &producer.ClientCredentials{
		TokenEndpoint: "HTTPS://h/t", ClientID: "id", ClientSecret: producer.NewSecret("s"), Scope: "a b",
		Extensions: map[string]string{"y": "2", "x": "1"}, CertificateAuthorities: "other"}}
	for _, c := range []struct {
		security *producer.Security
		want     map[string]string
	}{
		{nil, map[string]string{"security.protocol": "PLAINTEXT", "ssl.ca.pem": "", "sasl.mechanisms": ""}},
		{&producer.Security{TLS: tls}, map[string]string{"security.protocol": "SSL", "ssl.ca.pem": "ca",
			"ssl.certificate.pem": "chain", "ssl.key.pem": "key", "ssl.endpoint.identification.algorithm": "https"}},
		{&producer.Security{TLS: &producer.TLS{CertificateAuthorities: "ca", SkipEndpointIdentification: true}},
			map[string]string{"ssl.endpoint.identification.algorithm": "none", "ssl.key.pem": ""}},
		{&producer.Security{SASL: scram}, map[string]string{"security.protocol": "SASL_PLAINTEXT",
			"sasl.mechanisms": "SCRAM-SHA-256", "sasl.username": "me", "sasl.password": `a"b\`}},
		{&producer.Security{TLS: tls, SASL: oauth}, map[string]string{"security.protocol": "SASL_SSL",
			"sasl.mechanisms": "OAUTHBEARER", "sasl.oauthbearer.method": "oidc", "sasl.oauthbearer.scope": "a+b",
			"sasl.oauthbearer.extensions": "x=1,y=2", "https.ca.pem": "other", "sasl.username": ""}},
	} {
		got := mapped(t, secure(c.security), "id")
		for name, want := range c.want {
			if got[name] != want {
				t.Errorf("%s: %s = %q, want %q", c.security.Protocol(), name, got[name], want)
			}
		}
	}
}

func TestSecurityFaultsNameThePropertyOnly(t *testing.T) {
	planted := producer.NewSecret("planted\x00rest")
	for want, s := range map[string]*producer.Security{
		"properties.ssl.truststore.*":             {TLS: &producer.TLS{}},
		"properties.ssl.keystore.* needs":         {TLS: &producer.TLS{CertificateAuthorities: "ca", PrivateKey: planted}},
		"password of properties.sasl.jaas.config": {SASL: &producer.SASL{Mechanism: producer.MechanismPlain, User: "me", Password: planted}},
		"properties.sasl.jaas.config must name":   {SASL: &producer.SASL{Mechanism: producer.MechanismPlain, User: "me"}},
		`properties.sasl.mechanism = "GSSAPI"`:    {SASL: &producer.SASL{Mechanism: "GSSAPI"}},
		"OAUTHBEARER needs a client id":           {SASL: &producer.SASL{Mechanism: producer.MechanismOAuthBearer}},
		`the extension "e" in properties.sasl.jaas`: {SASL: &producer.SASL{Mechanism: producer.MechanismOAuthBearer,
			ClientCredentials: &producer.ClientCredentials{TokenEndpoint: "http://h", ClientID: "id", ClientSecret: producer.NewSecret("s"),
				Extensions: map[string]string{"e": "planted,"}}}},
	} {
		_, err := settings(secure(s), "id")
		if producer.KindOf(err) != producer.BadRequest || !strings.Contains(err.Error(), want) {
			t.Errorf("no %q in %v", want, err)
			continue
		}
		if strings.Contains(err.Error(), "planted") {
			t.Errorf("a secret is told: %v", err)
		}
	}
}
