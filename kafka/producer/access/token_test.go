package access

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"penstock.dev/penstock/kafka/kafkatest"
	"penstock.dev/penstock/kafka/producer"
)

func tokensOf(t *testing.T, url, secret string) *tokens {
	t.Helper()
	source, err := newTokens(&producer.ClientCredentials{TokenEndpoint: url, ClientID: "me", ClientSecret: producer.NewSecret(secret),
		Scope: "a b+c"})
	if err != nil {
		t.Fatal(err)
	}
	return source
}

func TestTokenIsKeptWhileFresh(t *testing.T) {
	endpoint := kafkatest.NewTokenEndpoint(t, "me", "planted:/ +secret")
	source := tokensOf(t, endpoint.URL, "planted:/ +secret")
	first, err := source.get(context.Background())
	if err != nil || strings.Count(first, ".") != 2 {
		t.Fatalf("token %q, error %v", first, err)
	}
	second, err := source.get(context.Background())
	if err != nil || second != first || endpoint.Asked.Load() != 1 || endpoint.Scope.Load() != "a b+c" {
		t.Errorf("asked %d times for scope %q, error %v", endpoint.Asked.Load(), endpoint.Scope.Load(), err)
	}
	if left := time.Until(source.until); left < 3*time.Minute || left > 4*time.Minute {
		t.Errorf("kept for %v of five minutes", left)
	}
	source.until = time.Now()
	if _, err := source.get(context.Background()); err != nil || endpoint.Asked.Load() != 2 {
		t.Errorf("asked %d times, error %v", endpoint.Asked.Load(), err)
	}
}

// TestTokenFaults: a wrong request is final, an endpoint in trouble is not, and no text repeats the secret.
func TestTokenFaults(t *testing.T) {
	for _, c := range []struct {
		status int
		body   string
		want   string
		final  bool
	}{
		{401, `{"error": "invalid_client"}`, "401 invalid_client", true},
		{400, strings.Repeat("x", 1000), "gives no token (400", true},
		{404, "", "gives no token (404", true},
		{200, "<html>", "holds no access_token", true},
		{200, `{"access_token": ""}`, "holds no access_token", true},
		{500, `{"error": "oops"}`, "answers 500 oops", false},
		{429, "", "answers 429", false},
		{0, "", "for a token", false},
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(c.status)
			fmt.Fprint(w, c.body)
		}))
		url := server.URL
		if c.status == 0 {
			server.Close()
		}
		_, err := tokensOf(t, url, "planted").get(context.Background())
		server.Close()
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "planted") || len(err.Error()) > 600 {
			t.Errorf("%d: no %q in %v", c.status, c.want, err)
		}
		if final := producer.KindOf(err) == producer.BadRequest; final != c.final {
			t.Errorf("%d: final %v: %v", c.status, final, err)
		}
	}
}
