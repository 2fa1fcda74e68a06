package faultpoint

// Point is one of the places below, by the name that rules use.
type Point string

// The places, in the order in which an epoch passes them.
const (
	// InInit is before the initialisation of a transactional id; all but the first of a healthy writer are warm-ups.
	InInit Point = "in-init"
	// AfterBegin is when the transaction is open, before the answer.
	AfterBegin Point = "after-begin"
	// InClaim is before a batch is claimed from its slot.
	InClaim Point = "in-claim"
	// InEncode is when a batch is claimed and not yet encoded.
	InEncode Point = "in-encode"
	// AfterLastRow is when the epoch is to be sealed and all its rows are in the producer's queue.
	AfterLastRow Point = "after-last-row"
	// InFlush is beside the flush that has begun.
	InFlush Point = "in-flush"
	// AfterFlush is when the epoch is proven and nobody knows yet.
	AfterFlush Point = "after-flush"
	// AfterReply is when the client has been told that the epoch is sealed.
	AfterReply Point = "after-reply"
	// InDestroy is before a producer is given up.
	InDestroy Point = "in-destroy"
)
