package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"runtime/debug"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/health"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/reflection"
	"google.golang.org/grpc/status"

	"penstock.dev/penstock/daemon/telemetry"
	pb "penstock.dev/penstock/proto/gen/penstock/v1"
)

// Names of the services whose health is reported; the empty one stands for the daemon as a whole.
var healthNames = []string{"", pb.SinkService_ServiceDesc.ServiceName, pb.DiagnosticsService_ServiceDesc.ServiceName}

// maxRequest bounds one gRPC message in bytes; OpenWriter with a wide schema is the largest.
const maxRequest = 4 << 20

// Server is the gRPC server. It starts NOT_SERVING.
type Server struct {
	grpc   *grpc.Server
	health *health.Server
	sink   *Sink
}

// New assembles the services. status answers GetStatus, withSlots that with every slot; both must be safe for concurrent use.
func New(sink *Sink, status, withSlots func() *pb.GetStatusResponse, log *slog.Logger) *Server {
	s := &Server{
		grpc: grpc.NewServer(
			grpc.MaxRecvMsgSize(maxRequest),
			grpc.KeepaliveParams(keepalive.ServerParameters{Time: time.Minute, Timeout: 20 * time.Second}),
			grpc.UnaryInterceptor(guardUnary(log)),
			grpc.StreamInterceptor(guardStream(log)),
		),
		health: health.NewServer(),
		sink:   sink,
	}
	s.SetServing(false)
	pb.RegisterSinkServiceServer(s.grpc, sink)
	pb.RegisterDiagnosticsServiceServer(s.grpc, diagnostics{status: status, withSlots: withSlots})
	healthpb.RegisterHealthServer(s.grpc, s.health)
	reflection.Register(s.grpc)
	return s
}

// SetServing changes what the health service answers.
func (s *Server) SetServing(serving bool) {
	state := healthpb.HealthCheckResponse_NOT_SERVING
	if serving {
		state = healthpb.HealthCheckResponse_SERVING
	}
	for _, name := range healthNames {
		s.health.SetServingStatus(name, state)
	}
}

// Serve accepts connections until Stop, or until ctx ends: then streams are cut at once.
func (s *Server) Serve(ctx context.Context, listener net.Listener) error {
	stop := context.AfterFunc(ctx, s.grpc.Stop)
	defer stop()
	if err := s.grpc.Serve(listener); err != nil && !errors.Is(err, grpc.ErrServerStopped) {
		return fmt.Errorf("api socket: %w", err)
	}
	return nil
}

// Stop lets running calls end until ctx ends, then cuts them, and waits until every writer is closed or ctx ends.
func (s *Server) Stop(ctx context.Context) error {
	cut := context.AfterFunc(ctx, s.grpc.Stop)
	defer cut()
	s.health.Shutdown()
	s.grpc.GracefulStop()
	return s.sink.wait(ctx)
}

// diagnostics answers from the snapshot that the metrics use, too.
type diagnostics struct {
	pb.UnimplementedDiagnosticsServiceServer
	status, withSlots func() *pb.GetStatusResponse
}

// GetStatus shows what the daemon holds.
func (d diagnostics) GetStatus(_ context.Context, request *pb.GetStatusRequest) (*pb.GetStatusResponse, error) {
	if request.GetSlots() {
		return d.withSlots(), nil
	}
	return d.status(), nil
}

// guardUnary turns a panic of a handler into an INTERNAL status: one client's request must not end the sessions of all.
func guardUnary(log *slog.Logger) grpc.UnaryServerInterceptor {
	return func(ctx context.Context, req any, info *grpc.UnaryServerInfo, next grpc.UnaryHandler) (_ any, err error) {
		defer recovered(log, info.FullMethod, &err)
		return next(ctx, req)
	}
}

func guardStream(log *slog.Logger) grpc.StreamServerInterceptor {
	return func(srv any, stream grpc.ServerStream, info *grpc.StreamServerInfo, next grpc.StreamHandler) (err error) {
		defer recovered(log, info.FullMethod, &err)
		return next(srv, stream)
	}
}

func recovered(log *slog.Logger, method string, err *error) {
	if p := recover(); p != nil {
		log.Error("panic in a gRPC handler", telemetry.FieldMethod, method, telemetry.FieldError, fmt.Sprint(p),
			telemetry.FieldStack, string(debug.Stack()))
		*err = status.Errorf(codes.Internal, "penstockd has a defect in %s; its log has the stack", method)
	}
}
