-- How each airport does, as the newest record of its key: for a compacted topic.

SET 'execution.checkpointing.interval' = '1 s';

CREATE TABLE flights_file (
  `date` TIMESTAMP(0),
  delay INT,
  distance INT,
  origin STRING,
  destination STRING
) WITH (
  'connector' = 'filesystem',
  'path' = 'file:///tmp/flights.jsonl',
  'format' = 'json'
);

CREATE TABLE airports (
  origin STRING,
  flights BIGINT,
  delayed BIGINT,
  worst INT,
  PRIMARY KEY (origin) NOT ENFORCED
) WITH (
  'connector' = 'penstock-upsert-kafka',
  'topic' = 'airports',
  'properties.bootstrap.servers' = 'localhost:9092',
  'properties.transaction.timeout.ms' = '900000',
  'key.format' = 'json',
  'value.format' = 'json',
  'sink.delivery-guarantee' = 'exactly-once',
  'sink.transactional-id-prefix' = 'airports'
);

INSERT INTO airports
SELECT origin, COUNT(*), COUNT(*) FILTER (WHERE delay > 15), MAX(delay)
FROM flights_file
GROUP BY origin;
