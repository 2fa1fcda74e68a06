package access

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"strings"

	"penstock.dev/penstock/kafka/producer"
)

// verifier judges the certificates of brokers as Java does: every certificate of the trust store is trusted for itself, and the common
// name counts where a certificate lists no names. crypto/tls alone knows neither a choice to leave the name out nor common names.
type verifier struct {
	roots *x509.CertPool
	own   []tls.Certificate
	skip  bool
}

func newVerifier(t *producer.TLS) (*verifier, error) {
	v := &verifier{roots: x509.NewCertPool(), skip: t.SkipEndpointIdentification}
	if !v.roots.AppendCertsFromPEM([]byte(t.CertificateAuthorities)) {
		return nil, producer.Errorf(producer.BadRequest,
			"properties.ssl.truststore.* holds no certificate that can be read: put the CA of the brokers there")
	}
	if t.CertificateChain == "" && !t.PrivateKey.IsSet() {
		return v, nil
	}
	own, err := tls.X509KeyPair([]byte(t.CertificateChain), []byte(t.PrivateKey.Reveal()))
	if err != nil {
		return nil, producer.Errorf(producer.BadRequest, "the certificate and the key of properties.ssl.keystore.* cannot be used "+
			"together: %w", err)
	}
	v.own = []tls.Certificate{own}
	return v, nil
}

// config is that of one connection to host.
func (v *verifier) config(host string) *tls.Config {
	return &tls.Config{
		MinVersion:   tls.VersionTLS12,
		ServerName:   host,
		Certificates: v.own,
		// Replaced by VerifyConnection, which runs for resumed sessions, too.
		InsecureSkipVerify: true,
		VerifyConnection:   func(s tls.ConnectionState) error { return v.check(s.PeerCertificates, host) },
	}
}

// check judges the chain that the broker shows.
func (v *verifier) check(chain []*x509.Certificate, host string) error {
	if len(chain) == 0 {
		return x509.UnknownAuthorityError{}
	}
	between := x509.NewCertPool()
	for _, c := range chain[1:] {
		between.AddCert(c)
	}
	if _, err := chain[0].Verify(x509.VerifyOptions{Roots: v.roots, Intermediates: between}); err != nil {
		return err
	}
	if v.skip || namedByCommonName(chain[0], host) {
		return nil
	}
	return chain[0].VerifyHostname(host)
}

// namedByCommonName is RFC 2818 3.1: the common name is the name where the certificate lists none.
func namedByCommonName(c *x509.Certificate, host string) bool {
	listed := len(c.DNSNames) + len(c.IPAddresses)
	return listed == 0 && net.ParseIP(host) == nil && strings.EqualFold(c.Subject.CommonName, host)
}

// names are what a certificate is issued for, for a text.
func names(c *x509.Certificate) string {
	var all []string
	all = append(all, c.DNSNames...)
	for _, ip := range c.IPAddresses {
		all = append(all, ip.String())
	}
	if len(all) == 0 {
		all = append(all, c.Subject.CommonName)
	}
	return fmt.Sprintf("%q", all)
}
