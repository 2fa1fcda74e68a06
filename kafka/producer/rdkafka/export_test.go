package rdkafka

import "penstock.dev/penstock/kafka/producer"

// ClientIdentity is what librdkafka's statistics have told of the producer's identity so far.
func ClientIdentity(o producer.Open) (id int64, epoch int16, seen bool) {
	s := o.(*open).c.snapshot()
	return s.producerID, s.producerEpoch, s.identitySeen
}

// Pretend makes o believe that the coordinator gave it another identity.
func Pretend(o producer.Open, who producer.Identity) { o.(*open).identity = who }

// Queued is how many records of o are not acknowledged yet.
func Queued(o producer.Open) int { return o.(*open).c.snapshot().queued }
