package doctor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"strings"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"penstock.dev/penstock/kafka/producer/access"
)

// brokers goes the way of a sink: names, ports, TLS, login, and then every broker that the cluster names.
func (d *diagnosis) brokers(ctx context.Context) {
	const check = "brokers.properties"
	p, err := readProperties(d.Properties)
	if err != nil {
		fix := "correct the file"
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
			fix = "name a file by --properties that this user may read"
		}
		d.fail(check, fix, "%v", err)
		return
	}
	servers := p.bootstrapServers()
	if len(servers) == 0 {
		d.fail(check, "set bootstrap.servers", "%s names no bootstrap.servers", d.Properties)
		return
	}
	reached := 0
	for _, server := range servers {
		if d.reach(ctx, "brokers.bootstrap", server) {
			reached++
		}
	}
	if reached == 0 {
		return
	}
	if text := p.unreadable(); text != "" {
		d.warn("brokers.login", "export the certificates to PEM and the values to a file for this test, or let the job tell",
			"not tried: %s", text)
		return
	}
	security, err := p.security()
	if err != nil {
		d.fail(check, "correct it in "+d.Properties, "%v", err)
		return
	}
	way, err := access.New(security)
	if err != nil {
		d.fail(check, "correct it in "+d.Properties, "%v", err)
		return
	}
	d.cluster(ctx, way, servers, p.protocol())
}

// reach makes a connection, name resolution included.
func (d *diagnosis) reach(ctx context.Context, check, address string) bool {
	ctx, cancel := context.WithTimeout(ctx, d.Timeout)
	defer cancel()
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", address)
	if err == nil {
		conn.Close()
		d.ok(check, "%s can be reached", address)
		return true
	}
	fix := "see that the broker runs and that no firewall or NetworkPolicy is between this node and it"
	if name, ok := errors.AsType[*net.DNSError](err); ok {
		fix = fmt.Sprintf("correct the name %q, or let this node resolve it", name.Name)
	}
	if _, ok := errors.AsType[*net.AddrError](err); ok {
		fix = "write host:port"
	}
	d.fail(check, fix, "%s: %v", address, err)
	return false
}

// cluster logs in and sees that each broker can be reached by the address that it advertises.
func (d *diagnosis) cluster(ctx context.Context, way *access.Access, servers []string, protocol string) {
	const check = "brokers.login"
	cl, err := kgo.NewClient(append(way.Options(), kgo.SeedBrokers(servers...))...)
	if err != nil {
		d.fail(check, "correct "+d.Properties, "%v", err)
		return
	}
	defer cl.Close()
	ctx, cancel := context.WithTimeout(ctx, 2*d.Timeout)
	defer cancel()
	if err := way.Check(ctx, cl); err != nil {
		// The refusal words the remedy after the cause, up to the error that it comes from.
		d.fail(check, "do what it says, in "+d.Properties+" or at the broker", "%v", err)
		return
	}
	answer, err := kadm.NewClient(cl).BrokerMetadata(ctx)
	if err != nil {
		fix := "see that this is a port of Kafka's, and what its log says"
		if protocol == "PLAINTEXT" {
			fix += "; a port that wants TLS or a login ends a connection in the clear without a word: then set security.protocol"
		}
		d.fail(check, fix, "the cluster does not answer by security.protocol = %s: %v", protocol, err)
		return
	}
	d.ok(check, "cluster %s answers by %s with %d brokers", answer.Cluster, protocol, len(answer.Brokers))
	for _, broker := range answer.Brokers {
		address := net.JoinHostPort(broker.Host, fmt.Sprint(broker.Port))
		if !d.reach(ctx, "brokers.advertised", address) {
			last := &d.findings[len(d.findings)-1]
			last.Fix = fmt.Sprintf("let advertised.listeners of broker %d name an address that this node can reach; %s", broker.NodeID,
				strings.TrimSpace(last.Fix))
		}
	}
}
