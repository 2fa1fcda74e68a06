package rdkafka

import (
	"context"
	"errors"
	"slices"
	"testing"
)

// names is a resolver that knows these names and addresses.
type names map[string][]string

func (n names) LookupHost(_ context.Context, host string) ([]string, error) { return n.lookup(host) }

func (n names) LookupAddr(_ context.Context, address string) ([]string, error) {
	return n.lookup(address)
}

func (n names) lookup(key string) ([]string, error) {
	if found := n[key]; found != nil {
		return found, nil
	}
	return nil, errors.New("unknown")
}

func TestCanonicalBootstrapServers(t *testing.T) {
	r := names{"kafka": {"10.0.0.1", "10.0.0.2", "::2"}, "10.0.0.1": {"b1.example.", "other."}, "::2": {"b2.example."}}
	got := canonical(t.Context(), r, []string{"kafka:9092", "absent:1", "no-port"})
	if want := []string{"b1.example:9092", "10.0.0.2:9092", "b2.example:9092", "absent:1", "no-port"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	cfg := valid()
	if got := seeds(cfg); !slices.Equal(got, cfg.BootstrapServers) {
		t.Errorf("without the option: %q", got)
	}
}
