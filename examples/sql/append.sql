-- Each flight of a file as one JSON record, exactly once.

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

CREATE TABLE flights (
  `date` TIMESTAMP(0),
  delay INT,
  distance INT,
  origin STRING,
  destination STRING
) WITH (
  'connector' = 'penstock-kafka',
  'topic' = 'flights',
  'properties.bootstrap.servers' = 'localhost:9092',
  'properties.transaction.timeout.ms' = '900000',
  'format' = 'json',
  'sink.delivery-guarantee' = 'exactly-once',
  'sink.transactional-id-prefix' = 'flights'
);

INSERT INTO flights SELECT * FROM flights_file;
