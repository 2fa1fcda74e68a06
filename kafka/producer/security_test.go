package producer

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"
)

func planted() *Security {
	return NewSecurity(&Security{
		TLS: &TLS{CertificateAuthorities: "ca", CertificateChain: "chain", PrivateKey: NewSecret("planted-key")},
		SASL: &SASL{Mechanism: MechanismScramSHA512, User: "me", Password: NewSecret("planted-password"),
			ClientCredentials: &ClientCredentials{ClientID: "c", ClientSecret: NewSecret("planted-client")}},
	})
}

func TestNoPrinterShowsASecret(t *testing.T) {
	var out bytes.Buffer
	s := planted()
	log := slog.New(slog.NewTextHandler(&out, nil))
	log.Info("text", "security", s, "tls", s.TLS, "value", *s.TLS, "secret", s.SASL.Password)
	slog.New(slog.NewJSONHandler(&out, nil)).Info("json", "security", s, "secret", s.SASL.Password, "sasl", *s.SASL)
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
		fmt.Fprintf(&out, verb+"\n", s)
		fmt.Fprintf(&out, verb+"\n", *s.TLS)
		fmt.Fprintf(&out, verb+"\n", *s.SASL)
		fmt.Fprintf(&out, verb+"\n", *s.SASL.ClientCredentials)
		fmt.Fprintf(&out, verb+"\n", s.SASL.Password)
		fmt.Fprintf(&out, verb+"\n", &s.SASL.Password)
		fmt.Fprintf(&out, verb+"\n", Config{Security: s})
		fmt.Fprintf(&out, verb+"\n", struct{ unexported Secret }{s.SASL.Password})
	}
	if err := json.NewEncoder(&out).Encode(s); err != nil {
		t.Fatal(err)
	}
	for _, form := range []string{"planted", fmt.Sprintf("%x", "planted")} {
		if strings.Contains(out.String(), form) {
			t.Errorf("a secret is shown as %s:\n%s", form, out.String())
		}
	}
	if !strings.Contains(out.String(), hidden) {
		t.Error("nothing was printed at all")
	}
}

func TestFingerprintTellsConfigurationsApart(t *testing.T) {
	seen := map[string]string{"": "none"}
	for name, change := range map[string]func(*Security){
		"same":       func(*Security) {},
		"no tls":     func(s *Security) { s.TLS = nil },
		"key":        func(s *Security) { s.TLS.PrivateKey = NewSecret("other") },
		"endpoint":   func(s *Security) { s.TLS.SkipEndpointIdentification = true },
		"user":       func(s *Security) { s.SASL.User = "you" },
		"password":   func(s *Security) { s.SASL.Password = NewSecret("other") },
		"secret":     func(s *Security) { s.SASL.ClientCredentials.ClientSecret = NewSecret("other") },
		"extensions": func(s *Security) { s.SASL.ClientCredentials.Extensions = map[string]string{"a": "b"} },
	} {
		s := planted()
		change(s)
		print := NewSecurity(s).Fingerprint()
		if before, twice := seen[print]; twice {
			t.Errorf("%s has the fingerprint of %s", name, before)
		}
		seen[print] = name
	}
	if planted().Fingerprint() != planted().Fingerprint() || (*Security)(nil).Fingerprint() != "" {
		t.Error("equal configurations differ")
	}
}

func TestProtocol(t *testing.T) {
	for want, s := range map[string]*Security{
		"PLAINTEXT": nil, "SSL": {TLS: &TLS{}}, "SASL_PLAINTEXT": {SASL: &SASL{}}, "SASL_SSL": {TLS: &TLS{}, SASL: &SASL{}},
	} {
		if got := s.Protocol(); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}
