package pipeline

import (
	"penstock.dev/penstock/kafka/producer"
	pb "penstock.dev/penstock/proto/gen/penstock/v1"
)

// security moves the secrets of the contract's message into types that do not print them; nil stays nil.
func security(s *pb.Security) *producer.Security {
	if s == nil {
		return nil
	}
	return producer.NewSecurity(&producer.Security{TLS: tls(s.GetTls()), SASL: sasl(s.GetSasl())})
}

func tls(t *pb.Tls) *producer.TLS {
	if t == nil {
		return nil
	}
	return &producer.TLS{
		CertificateAuthorities:     string(t.GetCertificateAuthorities()),
		CertificateChain:           string(t.GetCertificateChain()),
		PrivateKey:                 producer.NewSecret(string(t.GetPrivateKey())),
		SkipEndpointIdentification: t.GetSkipEndpointIdentification(),
	}
}

func sasl(s *pb.Sasl) *producer.SASL {
	if s == nil {
		return nil
	}
	a := &producer.SASL{
		Mechanism: producer.Mechanism(s.GetMechanism()),
		User:      s.GetUser().GetName(),
		Password:  producer.NewSecret(string(s.GetUser().GetPassword())),
	}
	if c := s.GetClientCredentials(); c != nil {
		a.ClientCredentials = &producer.ClientCredentials{
			TokenEndpoint:          c.GetTokenEndpoint(),
			ClientID:               c.GetClientId(),
			ClientSecret:           producer.NewSecret(string(c.GetClientSecret())),
			Scope:                  c.GetScope(),
			Extensions:             c.GetExtensions(),
			CertificateAuthorities: string(c.GetCertificateAuthorities()),
		}
	}
	return a
}
