package pipeline

import (
	"strings"
	"time"

	"penstock.dev/penstock/daemon/fault"
	"penstock.dev/penstock/kafka/encode"
	"penstock.dev/penstock/kafka/producer"
	pb "penstock.dev/penstock/proto/gen/penstock/v1"
)

// checkOpen refuses an OpenWriter that lacks what every writer needs. Format and engine judge the rest.
func checkOpen(open *pb.OpenWriter) error {
	if err := checkTopics(open); err != nil {
		return err
	}
	switch {
	case open.GetKafka() == nil || len(open.GetKafka().GetBootstrapServers()) == 0:
		return fault.New(pb.ErrorKind_BAD_REQUEST,
			"OpenWriter.kafka names no bootstrap servers; set the option 'properties.bootstrap.servers'")
	case open.GetSchema().GetRow() == nil:
		return fault.New(pb.ErrorKind_BAD_REQUEST, "OpenWriter.schema is missing; send the physical row type of the sink")
	}
	if _, known := pb.DeliveryGuarantee_name[int32(open.GetGuarantee())]; !known ||
		open.GetGuarantee() == pb.DeliveryGuarantee_DELIVERY_GUARANTEE_UNSPECIFIED {
		return fault.New(pb.ErrorKind_BAD_REQUEST, "OpenWriter.guarantee = %v; send EXACTLY_ONCE, AT_LEAST_ONCE or NONE",
			open.GetGuarantee())
	}
	if partitioner := open.GetShape().GetPartitioner(); pb.Partitioner_name[int32(partitioner)] == "" {
		return fault.New(pb.ErrorKind_FALL_BACK, "OpenWriter.shape.partitioner = %v is unknown to this daemon; use the stock sink for it",
			partitioner)
	}
	return nil
}

// checkTopics sees that the records have exactly one source of their topics.
func checkTopics(open *pb.OpenWriter) error {
	ownTopics := open.GetShape() != nil && open.GetShape().TopicColumn != nil
	switch topic := open.GetTopic(); {
	case topic == "" && !ownTopics:
		return fault.New(pb.ErrorKind_BAD_REQUEST, "OpenWriter.topic is empty; name the one topic of the sink (option 'topic'), or set "+
			"shape.topic_column")
	case topic != "" && ownTopics:
		return fault.New(pb.ErrorKind_BAD_REQUEST, "OpenWriter.topic = %q contradicts shape.topic_column = %d; set one of them",
			topic, open.GetShape().GetTopicColumn())
	case topic != "" && !encode.LegalTopic(topic):
		return fault.New(pb.ErrorKind_BAD_REQUEST, "OpenWriter.topic = %q is not a legal topic name; correct the option 'topic'", topic)
	}
	return nil
}

// topicsOf are the topics that the records can go to; empty when that is any.
func topicsOf(open *pb.OpenWriter) []string {
	if open.GetTopic() != "" {
		return []string{open.GetTopic()}
	}
	return open.GetShape().GetTopics()
}

// topicsInWords names them in logs and in the status.
func topicsInWords(open *pb.OpenWriter) string {
	if topics := topicsOf(open); len(topics) != 0 {
		return strings.Join(topics, ",")
	}
	return "(each row's own)"
}

// fixedPartition is the placement that 'sink.partitioner' = 'fixed' asks for, nil for the default.
func fixedPartition(open *pb.OpenWriter) *producer.Fixed {
	if open.GetShape().GetPartitioner() != pb.Partitioner_PARTITIONER_FIXED {
		return nil
	}
	return producer.NewFixed(int(open.GetOwner().GetSubtask()))
}

// producerConfig translates the contract's neutral configuration of a writer.
func producerConfig(open *pb.OpenWriter) producer.Config {
	k := open.GetKafka()
	millis := func(ms uint32) time.Duration { return time.Duration(ms) * time.Millisecond }
	c := producer.Config{
		Topics:                 topicsOf(open),
		Fixed:                  fixedPartition(open),
		BootstrapServers:       k.GetBootstrapServers(),
		ClientID:               k.GetClientId(),
		Acks:                   int(k.GetAcks()),
		Idempotence:            k.GetIdempotence(),
		DeliveryTimeout:        millis(k.GetDeliveryTimeoutMs()),
		RequestTimeout:         millis(k.GetRequestTimeoutMs()),
		MaxBlock:               millis(k.GetMaxBlockMs()),
		TransactionTimeout:     millis(k.GetTransactionTimeoutMs()),
		BatchBytes:             int(k.GetBatchBytes()),
		BufferBytes:            int64(k.GetBufferBytes()),
		MaxRequestBytes:        int(k.GetMaxRequestBytes()),
		Compression:            k.GetCompression(),
		RetryBackoff:           millis(k.GetRetryBackoffMs()),
		RetryBackoffMax:        millis(k.GetRetryBackoffMaxMs()),
		ReconnectBackoff:       millis(k.GetReconnectBackoffMs()),
		ReconnectBackoffMax:    millis(k.GetReconnectBackoffMaxMs()),
		ConnectionSetupTimeout: millis(k.GetConnectionSetupTimeoutMs()),
		ConnectionsMaxIdle:     millis(k.GetConnectionsMaxIdleMs()),
		MetadataMaxAge:         millis(k.GetMetadataMaxAgeMs()),
		MaxInFlight:            int(k.GetMaxInFlight()),
		Security:               security(k.GetSecurity()),
		SendBufferBytes:        int(k.GetSendBufferBytes()),
		ReceiveBufferBytes:     int(k.GetReceiveBufferBytes()),
		CanonicalBootstrap:     k.GetCanonicalBootstrapServers(),
		MetadataRecovery:       k.GetMetadataRecovery(),
		NoMetricsPush:          k.GetNoMetricsPush(),
	}
	if k.LingerMs != nil {
		linger := millis(k.GetLingerMs())
		c.Linger = &linger
	}
	if k.CompressionLevel != nil {
		level := int(k.GetCompressionLevel())
		c.CompressionLevel = &level
	}
	if k.RebootstrapTriggerMs != nil {
		trigger := millis(k.GetRebootstrapTriggerMs())
		c.RebootstrapTrigger = &trigger
	}
	if k.Retries != nil {
		retries := int(k.GetRetries())
		c.Retries = &retries
	}
	return c
}
