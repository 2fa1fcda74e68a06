package producer

import (
	"crypto/sha256"
	"encoding/json"
	"maps"
	"slices"
)

// Security protects the connections to the brokers. Field meanings: Security in proto/penstock/v1/sink.proto. It is made by
// NewSecurity and not changed afterwards; printing it shows no secret.
type Security struct {
	// TLS nil: no encryption.
	TLS *TLS
	// SASL nil: no authentication beyond that of TLS.
	SASL *SASL

	fingerprint Secret
}

// TLS is what an encrypted connection needs; all material is PEM.
type TLS struct {
	CertificateAuthorities string
	// CertificateChain and PrivateKey are both set or both empty.
	CertificateChain           string
	PrivateKey                 Secret
	SkipEndpointIdentification bool
}

// SASL is how a client proves who it is.
type SASL struct {
	Mechanism Mechanism
	// User and Password belong to every mechanism but MechanismOAuthBearer.
	User     string
	Password Secret
	// ClientCredentials belong to MechanismOAuthBearer.
	ClientCredentials *ClientCredentials
}

// ClientCredentials are how a token is had from an identity provider (RFC 6749 4.4).
type ClientCredentials struct {
	TokenEndpoint          string
	ClientID               string
	ClientSecret           Secret
	Scope                  string
	Extensions             map[string]string
	CertificateAuthorities string
}

// Mechanism is a SASL mechanism by its registered name.
type Mechanism string

// The mechanisms that Penstock translates.
const (
	MechanismPlain       Mechanism = "PLAIN"
	MechanismScramSHA256 Mechanism = "SCRAM-SHA-256"
	MechanismScramSHA512 Mechanism = "SCRAM-SHA-512"
	MechanismOAuthBearer Mechanism = "OAUTHBEARER"
)

// NewSecurity completes s and returns it; nil stays nil.
func NewSecurity(s *Security) *Security {
	if s != nil {
		s.fingerprint = NewSecret(s.digest())
	}
	return s
}

// Fingerprint tells configurations apart without showing them; "" is no security at all.
func (s *Security) Fingerprint() string {
	if s == nil {
		return ""
	}
	return s.fingerprint.Reveal()
}

// Protocol is the name of Kafka's security.protocol.
func (s *Security) Protocol() string {
	switch {
	case s == nil || s.TLS == nil && s.SASL == nil:
		return "PLAINTEXT"
	case s.SASL == nil:
		return "SSL"
	case s.TLS == nil:
		return "SASL_PLAINTEXT"
	default:
		return "SASL_SSL"
	}
}

// digest covers every field, each as a JSON string so that none can be mistaken for two.
func (s *Security) digest() string {
	parts := []string{s.Protocol()}
	if t := s.TLS; t != nil {
		parts = append(parts, t.CertificateAuthorities, t.CertificateChain, t.PrivateKey.Reveal())
		if t.SkipEndpointIdentification {
			parts = append(parts, "skip")
		}
	}
	if a := s.SASL; a != nil {
		parts = append(parts, string(a.Mechanism), a.User, a.Password.Reveal())
		if c := a.ClientCredentials; c != nil {
			parts = append(parts, c.TokenEndpoint, c.ClientID, c.ClientSecret.Reveal(), c.Scope, c.CertificateAuthorities)
			for _, name := range slices.Sorted(maps.Keys(c.Extensions)) {
				parts = append(parts, name, c.Extensions[name])
			}
		}
	}
	// A list of strings always has a JSON form.
	text, _ := json.Marshal(parts)
	sum := sha256.Sum256(text)
	return string(sum[:])
}
