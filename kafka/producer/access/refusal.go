package access

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
)

// remoteAlert begins the text of every alert that the other side sends; crypto/tls has no type for them.
const remoteAlert = "remote error: tls: "

// tlsRefusal says what to do about a failed handshake, "" when err is none or may pass by itself.
func (a *Access) tlsRefusal(err error) string {
	if e, ok := errors.AsType[x509.CertificateInvalidError](err); ok {
		if e.Reason == x509.Expired && e.Cert != nil {
			return fmt.Sprintf("the certificate of the broker (%s) is valid from %s to %s only: renew it on the broker, or correct the "+
				"clock of this node", e.Cert.Subject, e.Cert.NotBefore.Format(time.DateTime), e.Cert.NotAfter.Format(time.DateTime))
		}
		return "the certificate of the broker is not valid: issue another one to the broker"
	}
	if e, ok := errors.AsType[x509.HostnameError](err); ok {
		return fmt.Sprintf("the certificate of the broker is issued to %s, not to %s: issue one to the name in "+
			"properties.bootstrap.servers and advertised.listeners, or switch the comparison off by "+
			"properties.ssl.endpoint.identification.algorithm = ''", names(e.Certificate), e.Host)
	}
	if _, ok := errors.AsType[x509.UnknownAuthorityError](err); ok {
		return "nobody in properties.ssl.truststore.* has issued the certificate of the broker: add the broker's CA there"
	}
	if _, ok := errors.AsType[tls.RecordHeaderError](err); ok {
		return fmt.Sprintf("the broker does not speak TLS at this port, properties.security.protocol is %s: correct it, or the port in "+
			"properties.bootstrap.servers", a.security.Protocol())
	}
	_, alert, ok := strings.Cut(err.Error(), remoteAlert)
	switch {
	case !ok:
		return ""
	case strings.Contains(alert, "protocol version") || strings.Contains(alert, "handshake failure"):
		return "the broker has neither a protocol of TLS 1.2 and newer nor a cipher in common with this client, or wants a client " +
			"certificate: look at ssl.enabled.protocols of the broker and at properties.ssl.keystore.*"
	case strings.Contains(alert, "certificate") || strings.Contains(alert, "access denied"):
		if len(a.verify.own) == 0 {
			return "the broker wants a client certificate: set properties.ssl.keystore.*"
		}
		return "the broker refuses the client certificate of properties.ssl.keystore.*: renew it, or let its CA be trusted by the broker"
	}
	return ""
}

// saslRefusal says what to do about a refused login, "" when err is none.
func (a *Access) saslRefusal(err error) string {
	switch {
	case errors.Is(err, kerr.SaslAuthenticationFailed):
		if a.tokens != nil {
			return "the broker refuses the token of properties.sasl.oauthbearer.token.endpoint.url: compare issuer, audience and scope " +
				"with the broker's settings"
		}
		return "the broker refuses user and password: correct properties.sasl.jaas.config"
	case errors.Is(err, kerr.UnsupportedSaslMechanism):
		return fmt.Sprintf("the broker does not offer properties.sasl.mechanism = %s: choose one that it lists in "+
			"sasl.enabled.mechanisms", a.security.SASL.Mechanism)
	case errors.Is(err, kerr.IllegalSaslState):
		return fmt.Sprintf("the broker wants no login at this port, properties.security.protocol is %s: correct it, or the port in "+
			"properties.bootstrap.servers", a.security.Protocol())
	}
	return ""
}
