package server

import (
	"context"
	"sync"

	"google.golang.org/grpc"

	"penstock.dev/penstock/daemon/pipeline"
	pb "penstock.dev/penstock/proto/gen/penstock/v1"
)

// requestBacklog is how many requests may wait for a busy writer before gRPC's flow control holds the client back.
const requestBacklog = 64

// intake puts what a client sends on the stream and on the line of a writer into one order: that in which the client has sent it.
type intake struct {
	ctx      context.Context
	requests chan *pipeline.Queued

	mu sync.Mutex
	// taken is how many requests of the stream are in requests, or were.
	taken uint64
	// moved is closed when taken moves; nil while nobody waits for that.
	moved chan struct{}
	// over: nothing may be put any more.
	over bool
	// puts counts those of the line that are under way.
	puts sync.WaitGroup
}

func newIntake(ctx context.Context) *intake {
	return &intake{ctx: ctx, requests: make(chan *pipeline.Queued, requestBacklog)}
}

// receive takes requests in until the client has closed its side of the stream or it broke. Then requests is closed.
func (in *intake) receive(stream grpc.BidiStreamingServer[pb.WriteRequest, pb.WriteEvent]) {
	defer in.end()
	for {
		request, err := stream.Recv()
		if err != nil || !in.put(request) {
			return
		}
		in.mu.Lock()
		in.taken++
		if in.moved != nil {
			close(in.moved)
			in.moved = nil
		}
		in.mu.Unlock()
	}
}

// fromLine takes a request of the line in, behind those of the stream that were sent before it. It returns false when the stream is over.
func (in *intake) fromLine(request *pb.WriteRequest) bool {
	if !in.awaitTurn(request.GetAfter()) {
		return false
	}
	defer in.puts.Done()
	return in.put(request)
}

// awaitTurn returns when so many requests of the stream are taken, and true with one more put counted when it is not over.
func (in *intake) awaitTurn(after uint64) bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	for !in.over && in.taken < after {
		if in.moved == nil {
			in.moved = make(chan struct{})
		}
		moved := in.moved
		in.mu.Unlock()
		select {
		case <-moved:
		case <-in.ctx.Done():
		}
		in.mu.Lock()
		if in.ctx.Err() != nil {
			return false
		}
	}
	if in.over {
		return false
	}
	in.puts.Add(1)
	return true
}

func (in *intake) put(request *pb.WriteRequest) bool {
	select {
	case in.requests <- pipeline.NewQueued(request):
		return true
	case <-in.ctx.Done():
		return false
	}
}

// end closes requests once no put is under way. Who waits for a turn does so until the writer has ended, which follows.
func (in *intake) end() {
	in.mu.Lock()
	in.over = true
	in.mu.Unlock()
	in.puts.Wait()
	close(in.requests)
}
