package access

import (
	"context"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"penstock.dev/penstock/kafka/kafkatest"
	"penstock.dev/penstock/kafka/producer"
)

// TestCheckIsOfNow: a refusal is told at once, and one of an earlier question is forgotten.
func TestCheckIsOfNow(t *testing.T) {
	authority := kafkatest.NewAuthority(t, "trusted")
	a, err := New(producer.NewSecurity(&producer.Security{TLS: &producer.TLS{CertificateAuthorities: authority.PEM()}}))
	if err != nil {
		t.Fatal(err)
	}
	client := func(address string) *kgo.Client {
		cl, err := kgo.NewClient(append(a.Options(), kgo.SeedBrokers(address))...)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(cl.Close)
		return cl
	}
	expired := client(listen(t, authority.Issue("x", -time.Hour, "127.0.0.1")))
	requireRefusal(t, a.Check(context.Background(), expired), "renew it")

	a.saw(producer.Errorf(producer.BadRequest, "old news"))
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	// It speaks TLS and nothing more, so there is no answer, but no refusal either.
	repaired := client(listen(t, authority.Issue("x", time.Hour, "127.0.0.1")))
	if err := a.Check(ctx, repaired); err != nil {
		t.Errorf("check: %v", err)
	}
}
