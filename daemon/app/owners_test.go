package app

import (
	"strings"
	"testing"

	"penstock.dev/penstock/daemon/daemontest"
	"penstock.dev/penstock/kafka/kafkatest"
	pb "penstock.dev/penstock/proto/gen/penstock/v1"
)

// TestOneOwnerForEachID: the writers of all sessions share the owners, and the session of a TaskManager that is gone gives its ids up.
func TestOneOwnerForEachID(t *testing.T) {
	r := start(t, kafkatest.Faults{}, nil)
	c, other := r.client("p1"), r.client("p2")
	first := r.writer(c, pb.DeliveryGuarantee_EXACTLY_ONCE)
	first.Begin(1, "tx-1")

	request := daemontest.OpenRequest(other, pb.DeliveryGuarantee_EXACTLY_ONCE)
	request.Owner.JobId = "another"
	second := daemontest.NewWriter(t, r.api(), request)
	second.Opened()
	second.Send(&pb.WriteRequest{Request: &pb.WriteRequest_Begin{Begin: &pb.BeginEpoch{EpochId: 1, TransactionalId: "tx-1"}}})
	refused := second.Failure()
	if text := refused.GetMessage(); refused.GetKind() != pb.ErrorKind_FENCED || !strings.Contains(text, "(job job, ") ||
		!strings.Contains(text, "(job another, ") || !strings.Contains(text, "sink.transactional-id-prefix") {
		t.Errorf("refused %v", refused)
	}
	_ = second.Close()

	retried := daemontest.OpenRequest(other, pb.DeliveryGuarantee_EXACTLY_ONCE)
	retried.Owner.Attempt++
	third := daemontest.NewWriter(t, r.api(), retried)
	third.Opened()
	third.Begin(1, "tx-1")
	if gone := first.Failure(); gone.GetKind() != pb.ErrorKind_FENCED || !strings.Contains(gone.GetMessage(), "was taken over by") {
		t.Errorf("the earlier attempt: %v", gone)
	}
	_ = third.Close()
	c.Kill()
	other.Kill()
	r.requireNothingHeld()
}
