-- The routes that were never two hours late, as changes in Debezium's envelope: a route comes, changes with each flight, and goes with
-- its first long delay.

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

CREATE TABLE routes (
  origin STRING,
  destination STRING,
  flights BIGINT,
  worst INT
) WITH (
  'connector' = 'penstock-kafka',
  'topic' = 'routes',
  'properties.bootstrap.servers' = 'localhost:9092',
  'properties.transaction.timeout.ms' = '900000',
  'key.format' = 'json',
  'key.fields' = 'origin;destination',
  'value.format' = 'debezium-json',
  'sink.delivery-guarantee' = 'exactly-once',
  'sink.transactional-id-prefix' = 'routes'
);

INSERT INTO routes
SELECT origin, destination, COUNT(*), MAX(delay)
FROM flights_file
GROUP BY origin, destination
HAVING MAX(delay) < 120;
