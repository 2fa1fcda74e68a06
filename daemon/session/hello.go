package session

import (
	"fmt"
	"strings"

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

// What the encoders were proven against (formats.md section 0). Another Flink or Jackson may write other bytes, so anything
// else falls back.
const (
	supportedFlink   = "2.2."
	supportedJackson = "2.18.2"
	oldestJVM        = 17
	newestJVM        = 25
)

// maxProcessID bounds the process id of Hello in bytes; clients send 16 random ones.
const maxProcessID = 64

// checkHello refuses a client that this daemon cannot serve, in both sides' numbers, and otherwise finds out how the client's
// JVM spells floats.
func checkHello(h *pb.Hello, layoutHash uint64) (encode.FloatSpelling, error) {
	if h.GetProtocolMin() > ProtocolMax || h.GetProtocolMax() < ProtocolMin {
		return 0, fault.New(pb.ErrorKind_FALL_BACK,
			"protocol: the client speaks versions %d to %d and penstockd %d to %d; install the jar and the daemon of one release",
			h.GetProtocolMin(), h.GetProtocolMax(), ProtocolMin, ProtocolMax)
	}
	if h.GetLayoutHash() != layoutHash {
		return 0, fault.New(pb.ErrorKind_FALL_BACK,
			"shared-memory layout: the client has %#016x and penstockd %#016x; install the jar and the daemon of one release",
			h.GetLayoutHash(), layoutHash)
	}
	if err := checkVersions(h); err != nil {
		return 0, err
	}
	if h.GetBudgetBytes() == 0 {
		return 0, fault.New(pb.ErrorKind_DENIED,
			"the budget of this TaskManager is 0 bytes: %s = 0; set it in the Flink configuration, for example to 256m", memctl.BudgetSetting)
	}
	if n := len(h.GetProcessId()); n == 0 || n > maxProcessID {
		return 0, fault.New(pb.ErrorKind_BAD_REQUEST, "Hello.process_id has %d bytes; send 16 random ones, the same in every "+
			"session of one process", n)
	}
	spelling, err := encode.SpellingFromProbe(h.GetFloatProbe())
	if err != nil {
		return 0, fault.New(pb.ErrorKind_FALL_BACK, "the spelling of FLOAT and DOUBLE by JVM %d cannot be reproduced: %v",
			h.GetJvmFeatureVersion(), err)
	}
	return spelling, nil
}

func checkVersions(h *pb.Hello) error {
	switch {
	case !strings.HasPrefix(h.GetFlinkVersion(), supportedFlink):
		return unsupported("Flink", h.GetFlinkVersion(), supportedFlink+"x")
	case h.GetJacksonVersion() != supportedJackson:
		return unsupported("Flink's shaded Jackson", h.GetJacksonVersion(), supportedJackson)
	case h.GetJvmFeatureVersion() < oldestJVM || h.GetJvmFeatureVersion() > newestJVM:
		return unsupported("JVM feature version", fmt.Sprint(h.GetJvmFeatureVersion()), fmt.Sprintf("%d to %d", oldestJVM, newestJVM))
	}
	return nil
}

func unsupported(what, client, daemon string) error {
	return fault.New(pb.ErrorKind_FALL_BACK, "%s: the client runs %q and penstockd writes the same bytes only for %s; the stock "+
		"sink does the job", what, client, daemon)
}
