package server

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"penstock.dev/penstock/daemon/faultpoint"
	"penstock.dev/penstock/daemon/pipeline"
	"penstock.dev/penstock/daemon/session"
	"penstock.dev/penstock/daemon/telemetry"
	pb "penstock.dev/penstock/proto/gen/penstock/v1"
)

// writerLoop is the one goroutine that touches a pipeline.Writer and sends to its client.
type writerLoop struct {
	ctx      context.Context
	stream   grpc.BidiStreamingServer[pb.WriteRequest, pb.WriteEvent]
	intake   *intake
	line     atomic.Pointer[session.Line]
	backlog  *pipeline.Backlog
	writer   *pipeline.Writer
	counters *telemetry.Counters
	log      *slog.Logger
}

// serveLine takes the requests of the writer's line, on a goroutine of the session's server.
func (l *writerLoop) serveLine(line *session.Line) {
	defer context.AfterFunc(l.ctx, line.Close)()
	l.line.Store(line)
	for {
		request, err := line.Next()
		if err != nil {
			l.log.Debug("line ended", telemetry.FieldWriter, l.writer.ID(), telemetry.FieldReason, err)
			return
		}
		if !l.intake.fromLine(request) {
			return
		}
	}
}

// run returns when the stream is over; its error ends the stream for the client.
func (l *writerLoop) run(progress time.Duration) error {
	if err := l.stream.Send(l.opened()); err != nil {
		return err
	}
	ticker := time.NewTicker(progress)
	defer ticker.Stop()
	for {
		var err error
		select {
		case <-l.ctx.Done():
			return status.Error(codes.Aborted, "the stream was broken, or the session of this writer has ended")
		case request, ok := <-l.backlog.Requests():
			if !ok {
				return nil
			}
			err = l.answer(request.Request(), l.writer.Handle(l.backlog.Context(), request))
		case event := <-l.writer.Events():
			err = l.send(event)
		case <-ticker.C:
			err = l.send(l.writer.Tick())
		}
		if err != nil {
			return err
		}
	}
}

// opened is the answer to Open: the writer's, and that there may be a line.
func (l *writerLoop) opened() *pb.WriteEvent {
	event := l.writer.Opened()
	event.GetOpened().Line = true
	return event
}

// answer sends what there is to say to a request, where it was asked; failures are told on the stream.
func (l *writerLoop) answer(request *pb.WriteRequest, event *pb.WriteEvent) error {
	line := l.line.Load()
	if event == nil || request.GetAfter() == 0 || line == nil || event.GetFailed() != nil {
		if err := l.send(event); err != nil {
			return err
		}
	} else {
		if err := line.Answer(event); err != nil {
			return status.Errorf(codes.Aborted, "the line of this writer broke: %v", err)
		}
		l.counters.LineAnswers.Add(1)
	}
	if event.GetSealed() != nil {
		return faultpoint.Hit(faultpoint.AfterReply)
	}
	return nil
}

// send sends an event on the stream; nil is none.
func (l *writerLoop) send(event *pb.WriteEvent) error {
	if event == nil {
		return nil
	}
	return l.stream.Send(event)
}
