package server

import (
	"context"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"penstock.dev/penstock/daemon/faultpoint"
	"penstock.dev/penstock/daemon/pipeline"
	pb "penstock.dev/penstock/proto/gen/penstock/v1"
)

// requestBacklog is how many requests may wait for a busy writer before gRPC's flow control holds the client back.
const requestBacklog = 64

// writerLoop is the one goroutine that touches a pipeline.Writer and sends on its stream.
type writerLoop struct {
	ctx     context.Context
	stream  grpc.BidiStreamingServer[pb.WriteRequest, pb.WriteEvent]
	backlog *pipeline.Backlog
	writer  *pipeline.Writer
}

// receive hands on what the client sends. The channel is closed when the client has closed its side or the stream broke.
func receive(ctx context.Context, stream grpc.BidiStreamingServer[pb.WriteRequest, pb.WriteEvent]) <-chan *pipeline.Queued {
	requests := make(chan *pipeline.Queued, requestBacklog)
	go func() {
		defer close(requests)
		for {
			request, err := stream.Recv()
			if err != nil {
				return
			}
			select {
			case requests <- pipeline.NewQueued(request):
			case <-ctx.Done():
				return
			}
		}
	}()
	return requests
}

// run returns when the stream is over; its error ends the stream for the client.
func (l *writerLoop) run(progress time.Duration) error {
	if err := l.stream.Send(l.writer.Opened()); err != nil {
		return err
	}
	ticker := time.NewTicker(progress)
	defer ticker.Stop()
	for {
		var event *pb.WriteEvent
		select {
		case <-l.ctx.Done():
			return status.Error(codes.Aborted, "the stream was broken, or the session of this writer has ended")
		case request, ok := <-l.backlog.Requests():
			if !ok {
				return nil
			}
			event = l.writer.Handle(l.backlog.Context(), request)
		case event = <-l.writer.Events():
		case <-ticker.C:
			event = l.writer.Tick()
		}
		if event == nil {
			continue
		}
		if err := l.stream.Send(event); err != nil {
			return err
		}
		if event.GetSealed() != nil {
			if err := faultpoint.Hit(faultpoint.AfterReply); err != nil {
				return err
			}
		}
	}
}
