package rdkafka

import (
	"context"
	"net"
	"strings"
	"time"

	"penstock.dev/penstock/kafka/producer"
)

// resolveTimeout bounds the questions about the names of all bootstrap servers.
const resolveTimeout = 10 * time.Second

// resolver is what net.Resolver has.
type resolver interface {
	LookupHost(ctx context.Context, host string) ([]string, error)
	LookupAddr(ctx context.Context, addr string) ([]string, error)
}

// seeds are the bootstrap servers for a client that is not librdkafka, which looks names up itself. With canonical names each server
// becomes one for each of its addresses, as in Kafka's Java client: certificates are then compared with those names.
func seeds(cfg producer.Config) []string {
	if !cfg.CanonicalBootstrap {
		return cfg.BootstrapServers
	}
	ctx, cancel := context.WithTimeout(context.Background(), resolveTimeout)
	defer cancel()
	return canonical(ctx, net.DefaultResolver, cfg.BootstrapServers)
}

// canonical leaves a server as it is whose name cannot be looked up: whoever connects says why.
func canonical(ctx context.Context, r resolver, servers []string) []string {
	var out []string
	for _, server := range servers {
		host, port, err := net.SplitHostPort(server)
		if err != nil {
			out = append(out, server)
			continue
		}
		addresses, err := r.LookupHost(ctx, host)
		if err != nil {
			out = append(out, server)
			continue
		}
		for _, address := range addresses {
			out = append(out, net.JoinHostPort(nameOf(ctx, r, address), port))
		}
	}
	return out
}

// nameOf is the name of an address, or the address when it has none.
func nameOf(ctx context.Context, r resolver, address string) string {
	names, err := r.LookupAddr(ctx, address)
	if err != nil || len(names) == 0 {
		return address
	}
	return strings.TrimSuffix(names[0], ".")
}
