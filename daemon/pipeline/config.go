package pipeline

import (
	"strings"
	"time"

	"penstock.dev/penstock/daemon/fault"
	"penstock.dev/penstock/kafka/producer"
	pb "penstock.dev/penstock/proto/gen/penstock/v1"
)

// checkOpen refuses an OpenWriter that lacks what every writer needs. Format and engine judge the rest.
func checkOpen(open *pb.OpenWriter) error {
	switch {
	case open.GetTopic() == "":
		return fault.New(pb.ErrorKind_BAD_REQUEST, "OpenWriter.topic is empty; name the one topic of the sink (option 'topic')")
	case len(open.GetTopic()) > 249 || strings.ContainsAny(open.GetTopic(), "/\\ \x00"):
		return fault.New(pb.ErrorKind_BAD_REQUEST, "OpenWriter.topic = %q is not a legal topic name; correct the option 'topic'",
			open.GetTopic())
	case open.GetKafka() == nil || len(open.GetKafka().GetBootstrapServers()) == 0:
		return fault.New(pb.ErrorKind_BAD_REQUEST,
			"OpenWriter.kafka names no bootstrap servers; set the option 'properties.bootstrap.servers'")
	case open.GetSchema().GetRow() == nil:
		return fault.New(pb.ErrorKind_BAD_REQUEST, "OpenWriter.schema is missing; send the physical row type of the sink")
	case open.GetValueFormat().GetFormat() == nil:
		return fault.New(pb.ErrorKind_FALL_BACK,
			"OpenWriter.value_format is missing or unknown to this daemon, which encodes json, its changelog "+
				"envelopes, csv, raw and avro; use the stock sink for it")
	}
	if _, known := pb.DeliveryGuarantee_name[int32(open.GetGuarantee())]; !known ||
		open.GetGuarantee() == pb.DeliveryGuarantee_DELIVERY_GUARANTEE_UNSPECIFIED {
		return fault.New(pb.ErrorKind_BAD_REQUEST, "OpenWriter.guarantee = %v; send EXACTLY_ONCE, AT_LEAST_ONCE or NONE",
			open.GetGuarantee())
	}
	return nil
}

// producerConfig translates the contract's neutral configuration of a writer to topic.
func producerConfig(k *pb.KafkaConfig, topic string) producer.Config {
	millis := func(ms uint32) time.Duration { return time.Duration(ms) * time.Millisecond }
	c := producer.Config{
		Topic:                  topic,
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
	}
	if k.LingerMs != nil {
		linger := millis(k.GetLingerMs())
		c.Linger = &linger
	}
	if k.CompressionLevel != nil {
		level := int(k.GetCompressionLevel())
		c.CompressionLevel = &level
	}
	if k.Retries != nil {
		retries := int(k.GetRetries())
		c.Retries = &retries
	}
	return c
}
