package cli

import (
	"context"
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/encoding/protojson"

	"penstock.dev/penstock/daemon/config"
	pb "penstock.dev/penstock/proto/gen/penstock/v1"
)

type statusCommand struct {
	clientFlags
	JSON  bool `name:"json" help:"Print the answer as JSON."`
	Slots bool `help:"List every slot that is in use, too."`
}

// Run asks DiagnosticsService.
func (c *statusCommand) Run(o output) error {
	status, err := c.status(c.Slots)
	if err != nil {
		return err
	}
	if c.JSON {
		text, err := protojson.MarshalOptions{Multiline: true, EmitUnpopulated: true, UseProtoNames: true}.Marshal(status)
		if err != nil {
			return err
		}
		_, err = fmt.Fprintln(o.out, string(text))
		return err
	}
	return printStatus(o.out, status)
}

// status asks a running daemon.
func (f *clientFlags) status(slots bool) (status *pb.GetStatusResponse, err error) {
	err = f.ask(func(ctx context.Context, conn *grpc.ClientConn) (err error) {
		status, err = pb.NewDiagnosticsServiceClient(conn).GetStatus(ctx, &pb.GetStatusRequest{Slots: slots})
		return err
	})
	return status, err
}

func printStatus(out io.Writer, s *pb.GetStatusResponse) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	state := "draining or starting"
	if s.GetServing() {
		state = "serving"
	}
	m, c := s.GetMemory(), s.GetCounters()
	fmt.Fprintf(w, "penstockd\t%s, %s, up %v, arena %016x, %s\n", s.GetVersion(), state, age(s.GetUptimeMillis()), s.GetArenaId(),
		s.GetLibrdkafkaVersion())
	fmt.Fprintf(w, "memory\t%v capacity, %v leased, %v warm, %v in the kernel, %d segments, %d leases denied\n",
		size(m.GetCapacityBytes()), size(m.GetLeasedBytes()), size(m.GetWarmBytes()), size(m.GetKernelBytes()), m.GetSegments(),
		m.GetDeniedLeases())
	fmt.Fprintf(w, "\t%v tables, %v parked, %v being read, %v on disk, %v orphaned in %d segments, %d differences\n",
		size(m.GetTableBytes()), size(m.GetParkedBytes()), size(m.GetPinnedBytes()), size(m.GetSpilledBytes()), size(m.GetOrphanBytes()),
		m.GetOrphanSegments(), m.GetDifferences())
	fmt.Fprintf(w, "\t%d segments adopted from the life before, %d given up\n", m.GetAdoptedSegments(), m.GetRefusedSegments())
	if d := s.GetSpill(); d.GetMode() != config.SpillOff {
		fmt.Fprintf(w, "spill\t%s, %v of %v used, %d files, %d batches on disk, %d written, %d read back, %d refused, %d not written, %d lost\n",
			d.GetMode(), size(d.GetUsedBytes()), size(d.GetQuotaBytes()), d.GetFiles(), d.GetBatches(), d.GetBatchesWritten(),
			d.GetBatchesRead(), d.GetRefused(), d.GetWriteFailures(), d.GetReadFailures())
	}
	fmt.Fprintf(w, "traffic\t%d batches, %d paced, %d rows, %v encoded, %d producers\n", c.GetBatches(), c.GetBatchesPaced(),
		c.GetRows(), size(c.GetEncodedBytes()), s.GetProducers())
	fmt.Fprintf(w, "epochs\t%d sealed, %d empty, %d failed, %d aborted\n", c.GetEpochsSealed(), c.GetEpochsEmpty(),
		c.GetEpochsFailed(), c.GetEpochsAborted())
	fmt.Fprintf(w, "refused\t%d sessions, %d stale handles, %d foreign handles, %d bad batches\n", c.GetSessionsRefused(),
		c.GetStaleHandles(), c.GetForeignHandles(), c.GetBadBatches())
	printAccounts(w, s)
	if len(s.GetSessions()) > 0 {
		fmt.Fprintln(w, "\nSESSION\tCLIENT\tUID\tPID\tFLINK\tJVM\tAGE\tLEASED\tBUDGET\tRESERVED\tPARKED\tCLAIMED")
	}
	for _, x := range s.GetSessions() {
		fmt.Fprintf(w, "%d\t%s\t%d\t%d\t%s\t%d\t%v\t%v\t%v\t%d\t%d\t%d\n", x.GetSessionId(), x.GetClientName(), x.GetUid(), x.GetPid(),
			x.GetFlinkVersion(), x.GetJvmFeatureVersion(), age(x.GetAgeMillis()), size(x.GetLeasedBytes()), size(x.GetBudgetBytes()),
			x.GetSlotsReserved(), x.GetSlotsParked(), x.GetSlotsClaimed())
	}
	if len(s.GetWriters()) > 0 {
		fmt.Fprintln(w, "\nWRITER\tSESSION\tTASK\tSUBTASK\tATTEMPT\tTOPIC\tSTATE\tEPOCH\tROWS\tAGE\tIN FLIGHT\tTRANSACTIONAL ID")
	}
	for _, x := range s.GetWriters() {
		fmt.Fprintf(w, "%d\t%d\t%s\t%d\t%d\t%s\t%s\t%d\t%d\t%v\t%v\t%s\n", x.GetWriterId(), x.GetSessionId(), x.GetTaskName(), x.GetSubtask(),
			x.GetAttempt(), x.GetTopic(), x.GetEpochState(), x.GetEpochId(), x.GetEpochRows(), age(x.GetEpochAgeMillis()),
			size(x.GetInFlightBytes()), x.GetTransactionalId())
	}
	printMemory(w, s)
	return w.Flush()
}

func size(bytes uint64) config.ByteSize { return config.ByteSize(bytes) }

func age(millis uint64) time.Duration {
	return (time.Duration(millis) * time.Millisecond).Round(time.Second)
}
