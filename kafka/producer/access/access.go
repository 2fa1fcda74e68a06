package access

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"sync/atomic"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/sasl"
	"github.com/twmb/franz-go/pkg/sasl/oauth"
	"github.com/twmb/franz-go/pkg/sasl/plain"
	"github.com/twmb/franz-go/pkg/sasl/scram"

	"penstock.dev/penstock/kafka/producer"
)

const (
	// dialTimeout bounds one connection with its handshake.
	dialTimeout = 10 * time.Second
	// checkTimeout bounds Check: a cluster that does not answer by then is down or slow, which is no matter of access.
	checkTimeout = 5 * time.Second
)

// Access belongs to one configuration and one client. It is safe for concurrent use.
type Access struct {
	security *producer.Security
	verify   *verifier
	tokens   *tokens
	// refusals gets the first final refusal that a connection met while nobody waits on the answer of a request.
	refusals chan error
	passed   atomic.Bool
}

// New prepares the material; nil security is PLAINTEXT. What cannot be used is of kind BadRequest.
func New(s *producer.Security) (*Access, error) {
	a := &Access{security: s, refusals: make(chan error, 1)}
	if s == nil {
		return a, nil
	}
	var err error
	if s.TLS != nil {
		if a.verify, err = newVerifier(s.TLS); err != nil {
			return nil, err
		}
	}
	if s.SASL != nil && s.SASL.Mechanism == producer.MechanismOAuthBearer {
		if a.tokens, err = newTokens(s.SASL.ClientCredentials); err != nil {
			return nil, err
		}
	}
	return a, nil
}

// Options make a client use the access.
func (a *Access) Options() []kgo.Opt { return a.OptionsOver(nil) }

// OptionsOver are Options for a client whose connections are wrapped once they are made; nil wraps nothing.
func (a *Access) OptionsOver(wrap func(net.Conn) (net.Conn, error)) []kgo.Opt {
	var options []kgo.Opt
	if a.verify != nil || wrap != nil {
		options = append(options, kgo.Dialer(a.dialer(wrap)))
	}
	if a.security != nil && a.security.SASL != nil {
		options = append(options, kgo.SASL(a.mechanism(a.security.SASL)))
	}
	return options
}

func (a *Access) mechanism(s *producer.SASL) sasl.Mechanism {
	switch s.Mechanism {
	case producer.MechanismScramSHA256:
		return scram.Auth{User: s.User, Pass: s.Password.Reveal()}.AsSha256Mechanism()
	case producer.MechanismScramSHA512:
		return scram.Auth{User: s.User, Pass: s.Password.Reveal()}.AsSha512Mechanism()
	case producer.MechanismOAuthBearer:
		return oauth.Oauth(func(ctx context.Context) (oauth.Auth, error) {
			token, err := a.tokens.get(ctx)
			if err != nil {
				a.saw(err)
				return oauth.Auth{}, err
			}
			return oauth.Auth{Token: token, Extensions: s.ClientCredentials.Extensions}, nil
		})
	default:
		return plain.Auth{User: s.User, Pass: s.Password.Reveal()}.AsMechanism()
	}
}

// Check asks the cluster once whether the client gets in and returns a final refusal, of kind BadRequest. Every other outcome is nil: a
// broker that is down is found by whoever needs it. It takes at most a few seconds, and nothing once it has passed.
func (a *Access) Check(ctx context.Context, cl *kgo.Client) error {
	if a.security == nil || a.passed.Load() {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	select {
	case <-a.refusals: // of an earlier question; what it told may have been repaired
	default:
	}
	answer := make(chan error, 1)
	go func() { answer <- cl.Ping(ctx) }()
	select {
	case err := <-a.refusals:
		return err
	case err := <-answer:
		a.passed.Store(err == nil)
		return a.Refusal(err)
	}
}

// dialer is how connections are made, and wrapped unless wrap is nil.
func (a *Access) dialer(wrap func(net.Conn) (net.Conn, error)) func(ctx context.Context, network, address string) (net.Conn, error) {
	dial := a.dialPlain
	if a.verify != nil {
		dial = a.dial
	}
	if wrap == nil {
		return dial
	}
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		c, err := dial(ctx, network, address)
		if err != nil {
			return nil, err
		}
		return wrap(c)
	}
}

func (a *Access) dialPlain(ctx context.Context, network, address string) (net.Conn, error) {
	return (&net.Dialer{Timeout: dialTimeout}).DialContext(ctx, network, address)
}

// dial makes an encrypted connection; refusals of the handshake do not reach who asked for the client tries again.
func (a *Access) dial(ctx context.Context, network, address string) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	raw, err := (&net.Dialer{}).DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		raw.Close()
		return nil, err
	}
	conn := tls.Client(raw, a.verify.config(host))
	if err := conn.HandshakeContext(ctx); err != nil {
		raw.Close()
		a.saw(err)
		return nil, err
	}
	return &watched{Conn: conn, access: a}, nil
}

// watched is a connection that tells what its first reads meet: in TLS 1.3 a broker refuses the client's certificate only after the
// client's side of the handshake is done.
type watched struct {
	net.Conn
	access *Access
}

// NetConn is the encrypted connection below.
func (w *watched) NetConn() net.Conn { return w.Conn }

// Read reads and looks at the failure.
func (w *watched) Read(p []byte) (int, error) {
	n, err := w.Conn.Read(p)
	if err != nil {
		w.access.saw(err)
	}
	return n, err
}

// saw keeps err when it is a final refusal.
func (a *Access) saw(err error) {
	if refusal := a.Refusal(err); refusal != nil {
		select {
		case a.refusals <- refusal:
		default:
		}
	}
}

// Refusal words err when it says that the cluster does not let the client in whatever is tried, else it is nil.
func (a *Access) Refusal(err error) error {
	if err == nil {
		return nil
	}
	if e, ok := errors.AsType[*producer.Error](err); ok && e.Kind == producer.BadRequest {
		return e
	}
	if text := a.tlsRefusal(err); text != "" {
		return producer.Errorf(producer.BadRequest, "%s: %w", text, err)
	}
	if text := a.saslRefusal(err); text != "" {
		return producer.Errorf(producer.BadRequest, "%s: %w", text, err)
	}
	return nil
}
