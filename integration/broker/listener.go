package broker

import (
	"fmt"
	"strings"
)

// Listener is a way into a broker, on a free port of its own.
type Listener struct {
	// Name in capital letters.
	Name string
	// Protocol is SSL, SASL_PLAINTEXT or SASL_SSL.
	Protocol string
	// Settings are server properties without the prefix of the listener.
	Settings map[string]string
}

// AddrOf is the host:port of a further listener.
func (b *Broker) AddrOf(listener string) string { return b.addrs[listener] }

func addresses(listeners []Listener, ports []int) map[string]string {
	all := map[string]string{}
	for i, l := range listeners {
		all[l.Name] = fmt.Sprintf("127.0.0.1:%d", ports[i])
	}
	return all
}

// addListeners extends properties.
func (b *Broker) addListeners(properties map[string]string, listeners []Listener) {
	for _, l := range listeners {
		at := "," + l.Name + "://" + b.addrs[l.Name]
		properties["listeners"] += at
		properties["advertised.listeners"] += at
		properties["listener.security.protocol.map"] += "," + l.Name + ":" + l.Protocol
		for key, value := range l.Settings {
			properties["listener.name."+strings.ToLower(l.Name)+"."+key] = value
		}
	}
}
