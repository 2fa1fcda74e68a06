package cli

import (
	"fmt"
	"io"

	pb "penstock.dev/penstock/proto/gen/penstock/v1"
)

// printAccounts shows the memory of each TaskManager, by purpose.
func printAccounts(w io.Writer, s *pb.GetStatusResponse) {
	if len(s.GetAccounts()) == 0 {
		return
	}
	fmt.Fprint(w, "\nTASKMANAGER\tBUDGET\tRESERVED\tAVAILABLE\tPEAK")
	for _, p := range s.GetAccounts()[0].GetByPurpose() {
		fmt.Fprintf(w, "\t%s", p.GetPurpose())
	}
	fmt.Fprintln(w, "\tIN FLIGHT\tWAITS\tDENIED")
	for _, a := range s.GetAccounts() {
		fmt.Fprintf(w, "%s\t%v\t%v\t%v\t%v", a.GetProcess(), size(a.GetCapacityBytes()), size(a.GetReservedBytes()),
			size(a.GetAvailableBytes()), size(a.GetPeakBytes()))
		for _, p := range a.GetByPurpose() {
			fmt.Fprintf(w, "\t%v", size(p.GetBytes()))
		}
		fmt.Fprintf(w, "\t%v\t%d\t%d\n", size(a.GetInFlightBytes()), a.GetWaits(), a.GetDenied())
	}
}

// printMemory shows the single leases, producers, spill files and slots.
func printMemory(w io.Writer, s *pb.GetStatusResponse) {
	if len(s.GetProducerList()) > 0 {
		fmt.Fprintln(w, "\nPRODUCER OF WRITER\tROLE\tSTATE\tQUEUE\tTRANSACTIONAL ID")
	}
	for _, p := range s.GetProducerList() {
		fmt.Fprintf(w, "%d\t%s\t%s\t%v\t%s\n", p.GetWriterId(), p.GetRole(), p.GetState(), size(p.GetQueueBytes()), p.GetTransactionalId())
	}
	if len(s.GetLeases()) > 0 {
		fmt.Fprintln(w, "\nSEGMENT\tSESSION\tSIZE\tIN THE KERNEL\tPURPOSE")
	}
	for _, l := range s.GetLeases() {
		fmt.Fprintf(w, "%d\t%d\t%v\t%v\t%s\n", l.GetSegmentId(), l.GetSessionId(), size(l.GetBytes()), size(l.GetKernelBytes()), l.GetPurpose())
	}
	if len(s.GetSpillFiles()) > 0 {
		fmt.Fprintln(w, "\nSPILL FILE\tSESSION\tSIZE\tIN USE\tBATCHES")
	}
	for _, f := range s.GetSpillFiles() {
		fmt.Fprintf(w, "%s\t%d\t%v\t%v\t%d\n", f.GetName(), f.GetSessionId(), size(f.GetBytes()), size(f.GetLiveBytes()), f.GetBatches())
	}
	if len(s.GetSlots()) > 0 {
		fmt.Fprintln(w, "\nSLOT\tSESSION\tGENERATION\tSTATE\tSEGMENT\tSIZE\tROWS")
	}
	for _, x := range s.GetSlots() {
		fmt.Fprintf(w, "%d\t%d\t%d\t%s\t%d\t%v\t%d\n", x.GetSlot(), x.GetSessionId(), x.GetGeneration(), x.GetState(), x.GetSegmentId(),
			size(x.GetBytes()), x.GetRows())
	}
}
