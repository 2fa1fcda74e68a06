-- What a user writes. The demo runs this script with 'kafka' and with 'penstock-kafka' as ${connector}; nothing else
-- differs except the topic and the prefix of transactional ids, which two jobs must never share.

CREATE TEMPORARY TABLE records (
  id BIGINT,
  ${columns}
) WITH (
  'connector' = 'penstock-replay',
  'path' = '${data}',
  'rows' = '${rows}',
  'rate' = '${rate}'
);

CREATE TEMPORARY TABLE records_out (
  id BIGINT,
  ${columns}
) WITH (
  'connector' = '${connector}',
  'topic' = '${topic}',
  'properties.bootstrap.servers' = '${brokers}',
  'format' = 'json',
  'sink.delivery-guarantee' = 'exactly-once',
  'sink.transactional-id-prefix' = '${topic}'
);

INSERT INTO records_out SELECT * FROM records;
