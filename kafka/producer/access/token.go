package access

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"penstock.dev/penstock/kafka/producer"
)

const (
	tokenTimeout = 10 * time.Second
	// largestToken bounds an answer of the endpoint in bytes.
	largestToken = 1 << 20
	// largestReason bounds what of a refusal is repeated, in bytes.
	largestReason = 200
)

// tokens gets access tokens by client credentials and keeps one while it is fresh. It is safe for concurrent use.
type tokens struct {
	credentials *producer.ClientCredentials
	client      *http.Client

	mu    sync.Mutex
	token string
	until time.Time
}

func newTokens(c *producer.ClientCredentials) (*tokens, error) {
	if c == nil {
		return nil, producer.Errorf(producer.BadRequest, "properties.sasl.mechanism = OAUTHBEARER needs client credentials: set "+
			"properties.sasl.oauthbearer.client.credentials.client.id and .client.secret")
	}
	at, err := url.Parse(c.TokenEndpoint)
	if err != nil || at.Host == "" || at.Scheme != "http" && at.Scheme != "https" {
		return nil, producer.Errorf(producer.BadRequest,
			"properties.sasl.oauthbearer.token.endpoint.url must be an http or https URL with a host")
	}
	trusted := x509.NewCertPool()
	trusted.AppendCertsFromPEM([]byte(c.CertificateAuthorities))
	transport := &http.Transport{
		TLSClientConfig:     &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: trusted},
		TLSHandshakeTimeout: tokenTimeout,
		DisableKeepAlives:   true,
	}
	return &tokens{credentials: c, client: &http.Client{Transport: transport, Timeout: tokenTimeout}}, nil
}

// get returns a token that has at least a fifth of its life left.
func (t *tokens) get(ctx context.Context) (string, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.token != "" && time.Now().Before(t.until) {
		return t.token, nil
	}
	answer, err := t.ask(ctx)
	if err != nil {
		return "", err
	}
	t.token, t.until = answer.Token, time.Now().Add(time.Duration(answer.ExpiresIn*0.8*float64(time.Second)))
	return t.token, nil
}

// tokenAnswer is what RFC 6749 5.1 and 5.2 define.
type tokenAnswer struct {
	Token       string  `json:"access_token"`
	ExpiresIn   float64 `json:"expires_in"`
	Error       string  `json:"error"`
	Description string  `json:"error_description"`
}

// ask sends the request as Kafka's HttpJwtRetriever does: credentials in the Authorization header, not URL-encoded.
func (t *tokens) ask(ctx context.Context) (*tokenAnswer, error) {
	form := url.Values{"grant_type": {"client_credentials"}}
	if t.credentials.Scope != "" {
		form.Set("scope", t.credentials.Scope)
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, t.credentials.TokenEndpoint, strings.NewReader(form.Encode()))
	if err != nil {
		return nil, err
	}
	request.SetBasicAuth(t.credentials.ClientID, t.credentials.ClientSecret.Reveal())
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	request.Header.Set("Accept", "application/json")
	response, err := t.client.Do(request)
	if err != nil {
		return nil, fmt.Errorf("asking properties.sasl.oauthbearer.token.endpoint.url for a token: %w", err)
	}
	defer response.Body.Close()
	var answer tokenAnswer
	err = json.NewDecoder(io.LimitReader(response.Body, largestToken)).Decode(&answer)
	if response.StatusCode != http.StatusOK {
		return nil, refusedToken(response.StatusCode, &answer)
	}
	if err != nil || answer.Token == "" {
		return nil, producer.Errorf(producer.BadRequest, "the answer of properties.sasl.oauthbearer.token.endpoint.url holds no "+
			"access_token: correct the URL")
	}
	return &answer, nil
}

// refusedToken is final when the endpoint found the request wrong, and may pass when the endpoint itself is in trouble.
func refusedToken(status int, a *tokenAnswer) error {
	reason := fmt.Sprintf("%d %s", status, strings.TrimSpace(a.Error+" "+a.Description))
	if len(reason) > largestReason {
		reason = reason[:largestReason]
	}
	if status >= http.StatusInternalServerError || status == http.StatusTooManyRequests || status == http.StatusRequestTimeout {
		return fmt.Errorf("properties.sasl.oauthbearer.token.endpoint.url answers %s", reason)
	}
	return producer.Errorf(producer.BadRequest, "properties.sasl.oauthbearer.token.endpoint.url gives no token (%s): correct "+
		"properties.sasl.oauthbearer.client.credentials.client.id, .client.secret and properties.sasl.oauthbearer.scope, or the "+
		"options of the same meaning in properties.sasl.jaas.config", reason)
}
