package telemetry

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// Endpoint serves /metrics over HTTP.
type Endpoint struct {
	listener net.Listener
	server   *http.Server
}

// NewEndpoint listens on address (host:port). The collector and Go's own process metrics are what it serves.
func NewEndpoint(address string, collector prometheus.Collector) (*Endpoint, error) {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("metrics.listen = %q: %w; choose another address, or \"\" for no endpoint", address, err)
	}
	registry := prometheus.NewRegistry()
	registry.MustRegister(collector, collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	mux := http.NewServeMux()
	mux.Handle("/metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{}))
	return &Endpoint{listener: listener, server: &http.Server{
		Handler:           mux,
		ReadHeaderTimeout: 5 * time.Second,
		WriteTimeout:      10 * time.Second,
	}}, nil
}

// Address is where the endpoint listens.
func (e *Endpoint) Address() string { return e.listener.Addr().String() }

// Run serves until ctx ends.
func (e *Endpoint) Run(ctx context.Context) error {
	stop := context.AfterFunc(ctx, func() { e.server.Close() })
	defer stop()
	if err := e.server.Serve(e.listener); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("metrics endpoint: %w", err)
	}
	return nil
}

// Close stops listening; for an endpoint that was never run.
func (e *Endpoint) Close() error { return e.listener.Close() }
