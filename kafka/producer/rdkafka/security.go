package rdkafka

import (
	"maps"
	"net/url"
	"slices"
	"strings"

	"penstock.dev/penstock/kafka/producer"
)

// security maps by the tables in kafka.md 5.2 and 5.3. Texts name properties, never values that may be secret.
func (m *mapper) security(s *producer.Security) {
	m.set("security.protocol", s.Protocol())
	if s == nil {
		return
	}
	if s.TLS != nil {
		m.tls(s.TLS)
	}
	if s.SASL != nil {
		m.sasl(s.SASL)
	}
}

// text is for values that come from the user: librdkafka takes C strings, which end at the first zero.
func (m *mapper) text(name, option, value string) {
	if strings.ContainsRune(value, 0) {
		m.fault("%s holds a character of value zero: choose a value without it", option)
		return
	}
	m.set(name, value)
}

func (m *mapper) tls(t *producer.TLS) {
	if t.CertificateAuthorities == "" {
		// librdkafka would take what it finds on this machine, Java has its own.
		m.fault("properties.ssl.truststore.* holds no certificate: put the CA of the brokers there")
		return
	}
	m.text("ssl.ca.pem", "properties.ssl.truststore.*", t.CertificateAuthorities)
	if (t.CertificateChain == "") == t.PrivateKey.IsSet() {
		m.fault("properties.ssl.keystore.* needs a certificate chain and a private key, only one of them is there")
		return
	}
	if t.CertificateChain != "" {
		m.text("ssl.certificate.pem", "properties.ssl.keystore.*", t.CertificateChain)
		m.text("ssl.key.pem", "properties.ssl.keystore.*", t.PrivateKey.Reveal())
	}
	algorithm := "https"
	if t.SkipEndpointIdentification {
		algorithm = "none"
	}
	m.set("ssl.endpoint.identification.algorithm", algorithm)
}

func (m *mapper) sasl(s *producer.SASL) {
	switch s.Mechanism {
	case producer.MechanismPlain, producer.MechanismScramSHA256, producer.MechanismScramSHA512:
		if s.User == "" || !s.Password.IsSet() {
			m.fault("properties.sasl.jaas.config must name username and password")
			return
		}
		m.text("sasl.username", "the username of properties.sasl.jaas.config", s.User)
		m.text("sasl.password", "the password of properties.sasl.jaas.config", s.Password.Reveal())
	case producer.MechanismOAuthBearer:
		m.clientCredentials(s.ClientCredentials)
	default:
		m.fault("properties.sasl.mechanism = %q is not known to this engine: choose PLAIN, SCRAM-SHA-256, SCRAM-SHA-512 or OAUTHBEARER",
			s.Mechanism)
		return
	}
	m.set("sasl.mechanisms", string(s.Mechanism))
}

func (m *mapper) clientCredentials(c *producer.ClientCredentials) {
	if c == nil || c.ClientID == "" || !c.ClientSecret.IsSet() || c.TokenEndpoint == "" {
		m.fault("properties.sasl.mechanism = OAUTHBEARER needs a client id, a client secret and " +
			"properties.sasl.oauthbearer.token.endpoint.url")
		return
	}
	m.set("sasl.oauthbearer.method", "oidc")
	m.text("sasl.oauthbearer.token.endpoint.url", "properties.sasl.oauthbearer.token.endpoint.url", c.TokenEndpoint)
	m.text("sasl.oauthbearer.client.id", "the client id of OAUTHBEARER", c.ClientID)
	m.text("sasl.oauthbearer.client.secret", "the client secret of OAUTHBEARER", c.ClientSecret.Reveal())
	if c.Scope != "" {
		// librdkafka puts it into the form as it is, Java encodes it.
		m.text("sasl.oauthbearer.scope", "properties.sasl.oauthbearer.scope", url.QueryEscape(c.Scope))
	}
	if strings.HasPrefix(strings.ToLower(c.TokenEndpoint), "https:") {
		m.text("https.ca.pem", "the trust store of the Java process", c.CertificateAuthorities)
	}
	var extensions []string
	for _, name := range slices.Sorted(maps.Keys(c.Extensions)) {
		if strings.ContainsAny(name+c.Extensions[name], ",=\x00\x01") {
			m.fault("the extension %q in properties.sasl.jaas.config holds a comma or an equals sign, which librdkafka cannot pass on: "+
				"choose another value", name)
			continue
		}
		extensions = append(extensions, name+"="+c.Extensions[name])
	}
	if len(extensions) > 0 {
		m.set("sasl.oauthbearer.extensions", strings.Join(extensions, ","))
	}
}
