// Package producer is the seam between what Penstock produces and how it reaches a broker. An Engine makes transactional or
// plain producers; the pipeline and the epoch machine use only the interfaces here. Which calls are legal when is carried
// by the types: a Sealed producer has no method that could end its transaction.
//
//	Engine.Init --> Ready --Begin--> Open --Seal--> Sealed --Release--> (gone, transaction stays Ongoing)
//	                  |                \--Abort--> (gone, transaction aborted)
//	                  \--Discard--> (gone)
package producer
