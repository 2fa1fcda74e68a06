package broker

import (
	"fmt"
	"math/rand/v2"
	"net"
	"os"
)

const (
	// lowestPort is above the ports that services have by custom.
	lowestPort = 10240
	portTries  = 1000
	// usualEphemeral is where Linux begins with the ports of outgoing connections unless it is told otherwise.
	usualEphemeral = 32768
)

// freePorts finds ports that nobody listens on now. All are held until the last is found, so that they differ. They lie below those that the
// kernel gives to outgoing connections: any client on the machine could be given such a port before the broker binds it.
func freePorts(n int) ([]int, error) {
	end := firstEphemeral()
	var ports []int
	for range n {
		l, err := listenBelow(end)
		if err != nil {
			return nil, err
		}
		defer l.Close()
		ports = append(ports, l.Addr().(*net.TCPAddr).Port)
	}
	return ports, nil
}

func listenBelow(end int) (l net.Listener, err error) {
	for range portTries {
		if l, err = net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", lowestPort+rand.IntN(end-lowestPort))); err == nil {
			return l, nil
		}
	}
	return nil, fmt.Errorf("no free port from %d to %d in %d tries: %w", lowestPort, end-1, portTries, err)
}

// firstEphemeral is the end of the range to choose from.
func firstEphemeral() int {
	var first int
	text, err := os.ReadFile("/proc/sys/net/ipv4/ip_local_port_range")
	if err == nil {
		_, err = fmt.Sscan(string(text), &first)
	}
	if err != nil || first <= lowestPort+portTries {
		return usualEphemeral
	}
	return first
}
