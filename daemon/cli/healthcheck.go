package cli

import (
	"context"
	"fmt"

	"google.golang.org/grpc"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
)

type healthcheckCommand struct {
	clientFlags
}

// Run asks the standard health service; it is made for probes, so the exit code says all.
func (c *healthcheckCommand) Run(o output) error {
	var state healthpb.HealthCheckResponse_ServingStatus
	err := c.ask(func(ctx context.Context, conn *grpc.ClientConn) error {
		answer, err := healthpb.NewHealthClient(conn).Check(ctx, &healthpb.HealthCheckRequest{})
		state = answer.GetStatus()
		return err
	})
	if err != nil {
		return err
	}
	fmt.Fprintln(o.out, state)
	if state != healthpb.HealthCheckResponse_SERVING {
		return fmt.Errorf("the daemon answers but does not accept new sessions")
	}
	return nil
}
