package broker

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

func testContext(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 2*StartTimeout+60*time.Second)
	t.Cleanup(cancel)
	return ctx
}

func TestBrokerLives(t *testing.T) {
	ctx := testContext(t)
	b, err := Start(ctx, Options{})
	if err != nil {
		t.Fatal(err)
	}
	stopped := false
	defer func() {
		if !stopped {
			b.Kill()
		}
	}()
	if err := b.CreateTopic(ctx, "life", 2, map[string]string{"max.message.bytes": "1000"}); err != nil {
		t.Fatal(err)
	}
	produceOne(t, ctx, b, "life", "hello")
	records, err := b.Records(ctx, "life", true)
	if err != nil || len(records) != 1 || string(records[0].Value) != "hello" {
		t.Fatalf("records %v, error %v", records, err)
	}
	checkPause(t, ctx, b)
	if !strings.Contains(b.LogTail(1000), "Kafka Server started") {
		t.Errorf("the log lacks the line about the start:\n%s", b.LogTail(20))
	}
	stopped = true
	if err := b.Stop(); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(b.PID(), 0); err != syscall.ESRCH {
		t.Errorf("process %d still exists: %v", b.PID(), err)
	}
	if _, err := os.Stat(b.Dir()); !os.IsNotExist(err) {
		t.Errorf("folder %s is left behind", b.Dir())
	}
}

// TestComesBack: after a SIGKILL the same folder and port give the same broker with its records.
func TestComesBack(t *testing.T) {
	ctx := testContext(t)
	o := Options{Dir: filepath.Join(t.TempDir(), "kept")}
	b, err := Start(ctx, o)
	if err != nil {
		t.Fatal(err)
	}
	err = b.CreateTopic(ctx, "kept", 1, nil)
	if err == nil {
		produceOne(t, ctx, b, "kept", "still here")
	}
	b.Kill()
	if err != nil {
		t.Fatal(err)
	}
	addr := b.Addr()
	_, port, _ := strings.Cut(addr, ":")
	if o.Port, err = strconv.Atoi(port); err != nil {
		t.Fatal(err)
	}
	if b, err = Start(ctx, o); err != nil {
		t.Fatal(err)
	}
	defer b.Kill()
	records, err := b.Records(ctx, "kept", true)
	if err != nil || len(records) != 1 || string(records[0].Value) != "still here" || b.Addr() != addr {
		t.Errorf("records %v, error %v, address %s after %s", records, err, b.Addr(), addr)
	}
}

// checkPause sees that a paused broker does not answer and a resumed one does.
func checkPause(t *testing.T, ctx context.Context, b *Broker) {
	t.Helper()
	if err := b.Pause(); err != nil {
		t.Fatal(err)
	}
	adm, err := b.admin()
	if err != nil {
		t.Fatal(err)
	}
	defer adm.Close()
	short, cancel := context.WithTimeout(ctx, 500*time.Millisecond)
	defer cancel()
	if _, err := adm.BrokerMetadata(short); err == nil {
		t.Error("a paused broker answered")
	}
	if err := b.Resume(); err != nil {
		t.Fatal(err)
	}
	if err := b.awaitReady(ctx); err != nil {
		t.Error(err)
	}
}

func produceOne(t *testing.T, ctx context.Context, b *Broker, topic, value string) {
	t.Helper()
	cl, err := kgo.NewClient(kgo.SeedBrokers(b.Addr()))
	if err != nil {
		t.Fatal(err)
	}
	defer cl.Close()
	if err := cl.ProduceSync(ctx, &kgo.Record{Topic: topic, Value: []byte(value)}).FirstErr(); err != nil {
		t.Fatal(err)
	}
}

func TestMissingClasspathSaysWhatToDo(t *testing.T) {
	t.Setenv(ClasspathEnv, filepath.Join(t.TempDir(), "absent.txt"))
	_, err := Start(testContext(t), Options{})
	if err == nil || !strings.Contains(err.Error(), "build-classpath") || !strings.Contains(err.Error(), ClasspathEnv) {
		t.Fatalf("error %v", err)
	}
}

func TestBadSettingShowsTheBrokersWords(t *testing.T) {
	_, err := Start(testContext(t), Options{Settings: map[string]string{"node.id": "none"}})
	if err == nil || !strings.Contains(err.Error(), "Invalid value none") {
		t.Fatalf("error %v", err)
	}
}
