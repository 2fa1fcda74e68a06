package rdkafka

/*
#include "penstock_rdkafka.h"
*/
import "C"

import (
	"context"
	"log/slog"
	"runtime/cgo"
)

// Levels of librdkafka are those of syslog.
const (
	syslogWarning = 4
	syslogInfo    = 6
)

// psLog receives one line of librdkafka on any of its threads.
//
//export psLog
func psLog(handle C.uintptr_t, level C.int, facility, text *C.char) {
	log, ok := cgo.Handle(handle).Value().(*slog.Logger)
	if !ok {
		return
	}
	to := slog.LevelDebug
	switch {
	case level <= syslogWarning:
		to = slog.LevelWarn
	case level <= syslogInfo:
		to = slog.LevelInfo
	}
	log.Log(context.Background(), to, C.GoString(text), "facility", C.GoString(facility))
}
