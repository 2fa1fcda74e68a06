// Package access gets a franz-go client into a protected cluster by the neutral security configuration, and words every refusal by the
// property that the user has to change. It does by Kafka's Java client: who trusts whom, how names are compared, which faults are
// final.
package access
