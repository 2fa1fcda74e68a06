package cli

import (
	"context"
	"fmt"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
)

// clientFlags are those of the commands that ask a running daemon.
type clientFlags struct {
	configFlags
	Timeout time.Duration `help:"How long to wait for the answer." default:"5s"`
}

// ask connects to the api socket of the configuration and lets call use the connection within the timeout.
func (f *clientFlags) ask(call func(context.Context, *grpc.ClientConn) error) error {
	settings, err := f.load()
	if err != nil {
		return err
	}
	path := settings.Listen.APIPath()
	// "localhost" as authority: the socket's path, which is the default, is not a legal one.
	conn, err := grpc.NewClient("unix://"+path, grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithAuthority("localhost"))
	if err != nil {
		return err
	}
	defer conn.Close()
	ctx, cancel := context.WithTimeout(context.Background(), f.Timeout)
	defer cancel()
	if err := call(ctx, conn); err != nil {
		return &exitError{exitUnreachable, fmt.Errorf("no answer from %s: %w; is penstockd running with this folder "+
			"(--listen-dir), and may this user connect?", path, err)}
	}
	return nil
}
