package session

import (
	"penstock.dev/penstock/daemon/fault"
	"penstock.dev/penstock/kafka/encode"
	"penstock.dev/penstock/memctl"
	pb "penstock.dev/penstock/proto/gen/penstock/v1"
)

// Protocol versions that this daemon speaks.
const (
	ProtocolMin = 1
	ProtocolMax = 1
)

// The JVMs whose bytes are known: parity runs in both ends of the range, and the probe proves floats, the one thing that has changed
// between them. Another JVM may have changed something else, so it falls back, as does another Flink or Jackson (encode.LineOf).
const (
	oldestJVM = 17
	newestJVM = 25
)

// maxProcessID bounds the process id of Hello in bytes; clients send 16 random ones.
const maxProcessID = 64

// checkHello refuses a client that this daemon cannot serve, in both sides' numbers, and otherwise finds out what its
// process decides about bytes.
func checkHello(h *pb.Hello, layoutHash uint64) (encode.Dialect, error) {
	var none encode.Dialect
	if h.GetProtocolMin() > ProtocolMax || h.GetProtocolMax() < ProtocolMin {
		return none, fault.New(pb.ErrorKind_FALL_BACK,
			"protocol: the client speaks versions %d to %d and penstockd %d to %d; install the jar and the daemon of one release",
			h.GetProtocolMin(), h.GetProtocolMax(), ProtocolMin, ProtocolMax)
	}
	if h.GetLayoutHash() != layoutHash {
		return none, fault.New(pb.ErrorKind_FALL_BACK,
			"shared-memory layout: the client has %#016x and penstockd %#016x; install the jar and the daemon of one release",
			h.GetLayoutHash(), layoutHash)
	}
	line, err := checkVersions(h)
	if err != nil {
		return none, err
	}
	if h.GetBudgetBytes() == 0 {
		return none, fault.New(pb.ErrorKind_DENIED,
			"the budget of this TaskManager is 0 bytes: %s = 0; set it in the Flink configuration, for example to 256m", memctl.BudgetSetting)
	}
	if n := len(h.GetProcessId()); n == 0 || n > maxProcessID {
		return none, fault.New(pb.ErrorKind_BAD_REQUEST, "Hello.process_id has %d bytes; send 16 random ones, the same in every "+
			"session of one process", n)
	}
	spelling, err := encode.SpellingFromProbe(h.GetFloatProbe())
	if err != nil {
		return none, fault.New(pb.ErrorKind_FALL_BACK, "the spelling of FLOAT and DOUBLE by JVM %d cannot be reproduced: %v",
			h.GetJvmFeatureVersion(), err)
	}
	return encode.Dialect{Line: line, Floats: spelling}, nil
}

func checkVersions(h *pb.Hello) (encode.FlinkLine, error) {
	line, err := encode.LineOf(h.GetFlinkVersion(), h.GetJacksonVersion())
	if err != nil {
		return 0, fault.New(pb.ErrorKind_FALL_BACK, "%v; the stock sink does the job", err)
	}
	if jvm := h.GetJvmFeatureVersion(); jvm < oldestJVM || jvm > newestJVM {
		return 0, fault.New(pb.ErrorKind_FALL_BACK, "the bytes of a JVM of version %d are not known; known are %d to %d; the stock sink "+
			"does the job", jvm, oldestJVM, newestJVM)
	}
	return line, nil
}
