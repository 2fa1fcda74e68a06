package cli

import (
	"errors"
	"fmt"
	"io"

	"github.com/alecthomas/kong"

	"penstock.dev/penstock/daemon/config"
)

// Exit codes.
const (
	exitOK          = 0
	exitFailed      = 1
	exitUsage       = 2
	exitUnreachable = 3
)

// exitError carries an exit code other than exitFailed.
type exitError struct {
	code int
	err  error
}

func (e *exitError) Error() string { return e.err.Error() }
func (e *exitError) Unwrap() error { return e.err }

// commands is the grammar of the command line.
type commands struct {
	Run         runCommand         `cmd:"" help:"Run the daemon in the foreground."`
	Validate    validateCommand    `cmd:"" help:"Check a configuration and print what would be used."`
	Status      statusCommand      `cmd:"" help:"Show what a running daemon holds."`
	Top         topCommand         `cmd:"" help:"Show what a running daemon holds, again and again."`
	Healthcheck healthcheckCommand `cmd:"" help:"Exit with 0 when a running daemon is ready."`
	Doctor      doctorCommand      `cmd:"" help:"Look for what is wrong with this node, the configuration and the way to the brokers."`
	Version     versionCommand     `cmd:"" help:"Print the version."`

	PrepareFolder prepareFolderCommand `cmd:"" help:"Give a folder to the daemon's user, as root (Kubernetes, sockets in a folder of the node)."`
}

// output is where a command writes.
type output struct {
	out, err io.Writer
}

// configFlags are shared by every command that needs the configuration: to run it, to check it, or to find the sockets.
type configFlags struct {
	Config    string `help:"Configuration file (TOML). Without it the defaults are used." type:"path" placeholder:"FILE"`
	ListenDir string `help:"Folder of the sockets; overrides listen.directory." type:"path" placeholder:"DIR"`
	LogLevel  string `help:"debug, info, warn or error; overrides log.level." placeholder:"LEVEL"`
}

// load reads the file, lays the flags over it and checks the result.
func (f *configFlags) load() (*config.Config, error) {
	c, err := config.Load(f.Config)
	if err != nil {
		return nil, err
	}
	if f.ListenDir != "" {
		c.Listen.Directory = f.ListenDir
	}
	if f.LogLevel != "" {
		c.Log.Level = f.LogLevel
	}
	return c, c.Check()
}

// Main runs one command and returns the exit code of the process.
func Main(args []string, out, errOut io.Writer) int {
	var grammar commands
	exited := -1
	parser, err := kong.New(&grammar, kong.Name("penstockd"),
		kong.Description("Encodes and produces the rows of Flink's Kafka sinks, outside the JVM."),
		kong.Writers(out, errOut), kong.Exit(func(code int) { exited = code }), kong.UsageOnError())
	if err != nil {
		fmt.Fprintln(errOut, "penstockd:", err)
		return exitFailed
	}
	context, err := parser.Parse(args)
	if exited >= 0 {
		return exited
	}
	if err != nil {
		fmt.Fprintln(errOut, "penstockd:", err)
		return exitUsage
	}
	if err := context.Run(output{out, errOut}); err != nil {
		fmt.Fprintln(errOut, "penstockd:", err)
		if coded, ok := errors.AsType[*exitError](err); ok {
			return coded.code
		}
		return exitFailed
	}
	return exitOK
}
