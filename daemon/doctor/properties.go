package doctor

import (
	"fmt"
	"os"
	"regexp"
	"strings"

	"github.com/magiconair/properties"

	"penstock.dev/penstock/kafka/producer"
)

// producerProperties is a file of Kafka producer properties, with or without the prefix "properties." of table options.
type producerProperties struct {
	values map[string]string
}

func readProperties(path string) (*producerProperties, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	// Kafka expands nothing by itself.
	loader := properties.Loader{Encoding: properties.UTF8, DisableExpansion: true}
	read, err := loader.LoadBytes(text)
	if err != nil {
		return nil, err
	}
	p := &producerProperties{values: map[string]string{}}
	for key, value := range read.Map() {
		p.values[strings.TrimPrefix(key, "properties.")] = strings.TrimSpace(value)
	}
	return p, nil
}

func (p *producerProperties) get(key, otherwise string) string {
	if value, set := p.values[key]; set {
		return value
	}
	return otherwise
}

// bootstrapServers is the list as it stands there.
func (p *producerProperties) bootstrapServers() []string {
	var servers []string
	for server := range strings.SplitSeq(p.get("bootstrap.servers", ""), ",") {
		if server = strings.TrimSpace(server); server != "" {
			servers = append(servers, server)
		}
	}
	return servers
}

// placeholders are the keys whose values only a provider of the TaskManager knows.
func (p *producerProperties) placeholders() []string {
	var keys []string
	if p.get("config.providers", "") == "" {
		return nil
	}
	for key, value := range p.values {
		if strings.Contains(value, "${") {
			keys = append(keys, key)
		}
	}
	return keys
}

// unreadable says what of the properties this program cannot use though the TaskManager can, "" when there is nothing.
func (p *producerProperties) unreadable() string {
	if keys := p.placeholders(); len(keys) > 0 {
		return fmt.Sprintf("%s: filled in by config.providers on the TaskManager", strings.Join(keys, ", "))
	}
	if !p.encrypts() {
		return ""
	}
	for _, store := range []string{"ssl.truststore", "ssl.keystore"} {
		if kind := p.get(store+".type", "JKS"); p.get(store+".location", "") != "" && kind != "PEM" {
			return fmt.Sprintf("%s.type = %s: Java's stores are read on the TaskManager only", store, kind)
		}
	}
	return ""
}

func (p *producerProperties) protocol() string {
	return strings.ToUpper(p.get("security.protocol", "PLAINTEXT"))
}

func (p *producerProperties) encrypts() bool { return strings.HasSuffix(p.protocol(), "SSL") }

// security is the neutral configuration of the connections; nil is PLAINTEXT.
func (p *producerProperties) security() (*producer.Security, error) {
	s := &producer.Security{}
	var err error
	switch p.protocol() {
	case "PLAINTEXT":
		return nil, nil
	case "SSL":
		s.TLS, err = p.tls()
	case "SASL_PLAINTEXT":
		s.SASL, err = p.sasl()
	case "SASL_SSL":
		if s.TLS, err = p.tls(); err == nil {
			s.SASL, err = p.sasl()
		}
	default:
		err = fmt.Errorf("security.protocol = %q is none of PLAINTEXT, SSL, SASL_PLAINTEXT, SASL_SSL", p.protocol())
	}
	if err != nil {
		return nil, err
	}
	return producer.NewSecurity(s), nil
}

// systemTrust are the places of the system's certificates. The TaskManager uses those of its JVM instead.
var systemTrust = []string{"/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/cert.pem"}

func (p *producerProperties) tls() (*producer.TLS, error) {
	t := &producer.TLS{SkipEndpointIdentification: p.get("ssl.endpoint.identification.algorithm", "https") == ""}
	t.CertificateAuthorities = p.get("ssl.truststore.certificates", "")
	places := systemTrust
	if location := p.get("ssl.truststore.location", ""); location != "" {
		places = []string{location}
	}
	var err error
	for _, place := range places {
		if t.CertificateAuthorities == "" {
			var text []byte
			text, err = os.ReadFile(place)
			t.CertificateAuthorities = string(text)
		}
	}
	if t.CertificateAuthorities == "" {
		return nil, fmt.Errorf("ssl.truststore.location: %w", err)
	}
	chain, key := p.get("ssl.keystore.certificate.chain", ""), p.get("ssl.keystore.key", "")
	if location := p.get("ssl.keystore.location", ""); location != "" {
		text, err := os.ReadFile(location)
		if err != nil {
			return nil, fmt.Errorf("ssl.keystore.location: %w", err)
		}
		chain, key = string(text), string(text)
	}
	t.CertificateChain, t.PrivateKey = chain, producer.NewSecret(key)
	return t, nil
}

// jaasOption finds name="value" in sasl.jaas.config.
var jaasOption = regexp.MustCompile(`([\w.]+)\s*=\s*"((?:[^"\\]|\\.)*)"`)

func (p *producerProperties) sasl() (*producer.SASL, error) {
	jaas := map[string]string{}
	for _, m := range jaasOption.FindAllStringSubmatch(p.get("sasl.jaas.config", ""), -1) {
		jaas[m[1]] = strings.NewReplacer(`\"`, `"`, `\\`, `\`).Replace(m[2])
	}
	s := &producer.SASL{Mechanism: producer.Mechanism(p.get("sasl.mechanism", "GSSAPI"))}
	switch s.Mechanism {
	case producer.MechanismPlain, producer.MechanismScramSHA256, producer.MechanismScramSHA512:
		if jaas["username"] == "" || jaas["password"] == "" {
			return nil, fmt.Errorf(`sasl.jaas.config holds no username="..." and password="..."`)
		}
		s.User, s.Password = jaas["username"], producer.NewSecret(jaas["password"])
	case producer.MechanismOAuthBearer:
		const credentials = "sasl.oauthbearer.client.credentials."
		s.ClientCredentials = &producer.ClientCredentials{
			TokenEndpoint: p.get("sasl.oauthbearer.token.endpoint.url", ""),
			ClientID:      p.get(credentials+"client.id", jaas["clientId"]),
			ClientSecret:  producer.NewSecret(p.get(credentials+"client.secret", jaas["clientSecret"])),
			Scope:         p.get("sasl.oauthbearer.scope", jaas["scope"]),
		}
		if trust, err := p.tls(); err == nil {
			s.ClientCredentials.CertificateAuthorities = trust.CertificateAuthorities
		}
	default:
		return nil, fmt.Errorf("sasl.mechanism = %s is not native; the stock sink does the job", s.Mechanism)
	}
	return s, nil
}
