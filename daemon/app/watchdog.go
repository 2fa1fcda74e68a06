package app

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"time"
)

// notifyWatchdog is the sign of life of sd_notify(3).
const notifyWatchdog = "WATCHDOG=1"

// watchdogInterval is how often the service manager wants a sign of life: half of WATCHDOG_USEC, as sd_watchdog_enabled(3) asks
// for. It is 0 when there is no watchdog, or when it is meant for another process (WATCHDOG_PID).
func watchdogInterval() (time.Duration, error) {
	text := os.Getenv("WATCHDOG_USEC")
	if pid := os.Getenv("WATCHDOG_PID"); text == "" || pid != "" && pid != strconv.Itoa(os.Getpid()) {
		return 0, nil
	}
	micros, err := strconv.ParseInt(text, 10, 64)
	if err != nil || micros <= 0 || micros > int64(time.Hour*24*365/time.Microsecond) {
		return 0, fmt.Errorf("WATCHDOG_USEC = %q is not a time in microseconds; correct WatchdogSec= of the unit file", text)
	}
	return time.Duration(micros) * time.Microsecond / 2, nil
}

// watch gives signs of life as long as the daemon's state can be read. Status takes the locks of sessions, writers and arena, Usage that
// of the accounts, so a daemon that is stuck in one of them is silent, and the service manager starts it anew.
func (a *App) watch(ctx context.Context) error {
	interval, err := watchdogInterval()
	if err != nil {
		return err
	}
	if interval == 0 {
		<-ctx.Done()
		return nil
	}
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	for {
		a.Status()
		a.ledger.Usage()
		a.tell(notifyWatchdog)
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
	}
}
