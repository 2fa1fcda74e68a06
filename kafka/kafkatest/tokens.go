package kafkatest

import (
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math/big"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"
)

// TokenEndpoint is an identity provider on loopback that gives signed tokens for one client id and secret.
type TokenEndpoint struct {
	// URL is where tokens are had.
	URL string
	// KeySet is a file with the public key, for the broker.
	KeySet string
	// Asked counts requests.
	Asked atomic.Int64
	// Scope is the scope of the last request.
	Scope atomic.Value

	id, secret string
	key        *rsa.PrivateKey
}

// tokenLife is how long a token is good.
const tokenLife = 5 * time.Minute

// NewTokenEndpoint starts one that ends with the test.
func NewTokenEndpoint(t testing.TB, id, secret string) *TokenEndpoint {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	e := &TokenEndpoint{id: id, secret: secret, key: key, KeySet: filepath.Join(t.TempDir(), "keys.json")}
	set := map[string]any{"keys": []any{map[string]string{
		"kty": "RSA", "kid": "test", "use": "sig", "alg": "RS256", "n": encode(key.N.Bytes()),
		"e": encode(big.NewInt(int64(key.E)).Bytes()),
	}}}
	text, err := json.Marshal(set)
	if err == nil {
		err = os.WriteFile(e.KeySet, text, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(http.HandlerFunc(e.serve))
	t.Cleanup(server.Close)
	e.URL = server.URL + "/token"
	return e
}

func (e *TokenEndpoint) serve(w http.ResponseWriter, r *http.Request) {
	e.Asked.Add(1)
	e.Scope.Store(r.FormValue("scope"))
	w.Header().Set("Content-Type", "application/json")
	id, secret, _ := r.BasicAuth()
	switch {
	case id != e.id || secret != e.secret:
		w.WriteHeader(http.StatusUnauthorized)
		fmt.Fprint(w, `{"error": "invalid_client", "error_description": "unknown client"}`)
	case r.Method != http.MethodPost || r.FormValue("grant_type") != "client_credentials":
		w.WriteHeader(http.StatusBadRequest)
		fmt.Fprint(w, `{"error": "unsupported_grant_type"}`)
	default:
		fmt.Fprintf(w, `{"access_token": %q, "token_type": "Bearer", "expires_in": %d}`, e.token(), int(tokenLife.Seconds()))
	}
}

// token is a JWT (RFC 7519) of the client id.
func (e *TokenEndpoint) token() string {
	now := time.Now()
	claims, _ := json.Marshal(map[string]any{
		"sub": e.id, "aud": "penstock", "iss": "test", "scope": "kafka", "iat": now.Unix(), "exp": now.Add(tokenLife).Unix(),
	})
	signed := encode([]byte(`{"alg":"RS256","kid":"test","typ":"JWT"}`)) + "." + encode(claims)
	sum := sha256.Sum256([]byte(signed))
	signature, err := rsa.SignPKCS1v15(rand.Reader, e.key, crypto.SHA256, sum[:])
	if err != nil {
		return ""
	}
	return signed + "." + encode(signature)
}

func encode(data []byte) string { return base64.RawURLEncoding.EncodeToString(data) }
