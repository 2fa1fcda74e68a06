package session

import (
	"os"

	"penstock.dev/penstock/daemon/listen"
	"penstock.dev/penstock/daemon/telemetry"
)

// watch ends the session when the client's process ends, which its socket does not tell while a child that inherited it lives. The
// returned function ends the watch; without a pidfd, on older kernels, the end of the socket is all there is.
func (x *Session) watch() (stop func()) {
	process, err := listen.ProcessOf(x.conn)
	if err != nil {
		x.log.Debug("no pidfd of the client", telemetry.FieldError, err)
		return func() {}
	}
	go x.revokeAtEnd(process)
	return func() { process.Close() }
}

func (x *Session) revokeAtEnd(process *os.File) {
	if listen.AwaitEnd(process) {
		x.server.options.Counters.ProcessesEnded.Add(1)
		x.Revoke()
	}
}
