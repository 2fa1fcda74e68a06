-- The admission table: which tables are written natively, and with which reason the others are not. Read by AdmissionCasesTest,
-- which plans each table by Flink's own factories, and by daemon/pipeline/admission_test.go, which opens writers for the plans.
--
--   -- NAME: native                    the plan is in native/NAME.txtpb, that of Flink 2.0 in native-2.0/NAME.txtpb where it is another;
--                                      the daemon compiles both
--   -- NAME: native with connector 5.0: WORDS   the same; with another flink-connector-kafka a fallback with the words
--   -- NAME: fallback: WORDS           the reason contains the words
--   -- NAME: fallback, refused: WORDS  and refused/NAME.txtpb holds what the daemon would be asked; it refuses too
--   -- NAME: invalid: WORDS            Flink's own factory refuses the table with these words
--
-- A statement is what follows CREATE TABLE t. Where it does not name them, it gets 'connector' = 'penstock-kafka',
-- 'topic' = 'flights' and bootstrap servers.

-- json: native
(id BIGINT, name STRING) WITH ('format' = 'json');

-- json-with-every-option: native
(id BIGINT, m MAP<STRING, DECIMAL(10, 2)>) WITH ('value.format' = 'json', 'value.json.timestamp-format.standard' = 'ISO-8601',
  'value.json.map-null-key.mode' = 'LITERAL', 'value.json.map-null-key.literal' = 'nix',
  'value.json.encode.decimal-as-plain-number' = 'true', 'value.json.encode.ignore-null-fields' = 'true');

-- every-type-of-json: native
(b BOOLEAN, i1 TINYINT, i2 SMALLINT, i4 INT, i8 BIGINT, f4 FLOAT, f8 DOUBLE, d DECIMAL(20, 3), c CHAR(3), s STRING,
  bi BINARY(2), vb BYTES, dt DATE, t TIME, ts TIMESTAMP(9), ltz TIMESTAMP_LTZ(6), a ARRAY<INT NOT NULL>, m MAP<STRING, INT>,
  ms MULTISET<STRING>, r ROW<x INT, y ROW<z STRING>>) WITH ('format' = 'json');

-- csv: native
(id BIGINT, a ARRAY<STRING>) WITH ('format' = 'csv', 'csv.field-delimiter' = '\t', 'csv.null-literal' = '');

-- raw: native
(x BIGINT) WITH ('format' = 'raw', 'raw.endianness' = 'little-endian');

-- debezium-json: native
(id BIGINT, name STRING) WITH ('format' = 'debezium-json');

-- canal-json: native
(id BIGINT, name STRING) WITH ('format' = 'canal-json');

-- maxwell-json: native
(id BIGINT, name STRING) WITH ('format' = 'maxwell-json');

-- ogg-json: native
(id BIGINT, name STRING, PRIMARY KEY (id) NOT ENFORCED) WITH ('format' = 'ogg-json');

-- json-maps-of-rows-without-nulls: native
(m MAP<STRING, ROW<x INT>>) WITH ('format' = 'json', 'json.encode.ignore-null-fields' = 'true');

-- key-maps-of-rows-without-nulls: native
(m MAP<STRING, ROW<x INT>>, id INT) WITH ('key.format' = 'json', 'key.fields' = 'm', 'format' = 'json',
  'key.json.encode.ignore-null-fields' = 'true');

-- canal-json-maps-of-rows-without-nulls: native
(m MAP<STRING, ROW<x INT>>) WITH ('format' = 'canal-json', 'canal-json.encode.ignore-null-fields' = 'true');

-- avro: native
(id BIGINT, m MAP<STRING, INT>) WITH ('format' = 'avro', 'avro.timestamp_mapping.legacy' = 'false');

-- avro-confluent: native
(id BIGINT, name STRING) WITH ('key.format' = 'avro-confluent', 'key.avro-confluent.url' = 'http://localhost:1',
  'key.fields' = 'id', 'value.format' = 'avro-confluent', 'value.avro-confluent.url' = 'http://localhost:1');

-- debezium-avro-confluent: native
(id BIGINT, name STRING)
  WITH ('format' = 'debezium-avro-confluent', 'debezium-avro-confluent.url' = 'http://localhost:1');

-- upsert-of-a-registry: native
(k_id BIGINT, name STRING, PRIMARY KEY (k_id) NOT ENFORCED) WITH ('connector' = 'penstock-upsert-kafka',
  'key.format' = 'json', 'key.fields-prefix' = 'k_', 'value.fields-include' = 'EXCEPT_KEY',
  'value.format' = 'avro-confluent', 'value.avro-confluent.url' = 'http://localhost:1');

-- protobuf: native
(id BIGINT, name STRING, price ROW<amount BIGINT, currency STRING>) WITH ('format' = 'protobuf',
  'protobuf.message-class-name' = 'dev.penstock.flink.table.messages.Order');

-- protobuf-key: native
(id BIGINT, name STRING) WITH ('key.format' = 'protobuf', 'key.fields' = 'name', 'format' = 'json',
  'key.protobuf.message-class-name' = 'dev.penstock.flink.table.messages.Order');

-- avro-with-headers: native with connector 5.0: the metadata 'headers' is written
(m MAP<STRING, INT>, h MAP<STRING, BYTES> METADATA FROM 'headers') WITH ('format' = 'avro');

-- map-in-a-key-of-json-and-a-value-of-avro: native
(k MAP<STRING, INT>, v MAP<STRING, INT>) WITH ('key.format' = 'json', 'key.fields' = 'k', 'value.format' = 'avro',
  'value.fields-include' = 'EXCEPT_KEY');

-- key: native
(id BIGINT, name STRING) WITH ('key.format' = 'json', 'key.fields' = 'id', 'value.format' = 'csv');

-- key-in-the-listed-order: native
(a INT, b INT, c INT, d INT) WITH ('key.format' = 'csv', 'key.fields' = 'd;b', 'format' = 'json');

-- key-with-options-of-its-own: native
(t TIMESTAMP(3), u TIMESTAMP(3)) WITH ('key.format' = 'json', 'key.fields' = 't', 'value.format' = 'json',
  'key.json.timestamp-format.standard' = 'ISO-8601', 'value.json.encode.ignore-null-fields' = 'true');

-- key-that-is-raw: native
(id BIGINT, name STRING) WITH ('key.format' = 'raw', 'key.fields' = 'name', 'format' = 'debezium-json');

-- key-outside-of-the-value: native
(k_id BIGINT, name STRING, k_zone INT) WITH ('key.format' = 'json', 'key.fields' = 'k_zone;k_id', 'key.fields-prefix' = 'k_',
  'value.format' = 'json', 'value.fields-include' = 'EXCEPT_KEY');

-- timestamp-and-headers: native with connector 5.0: the metadata 'headers' is written
(id BIGINT, h MAP<STRING, BYTES> METADATA FROM 'headers', ts TIMESTAMP_LTZ(3) METADATA FROM 'timestamp', name STRING)
  WITH ('format' = 'json');

-- virtual-metadata-is-only-read: native
(id BIGINT, p INT METADATA FROM 'partition' VIRTUAL, ts TIMESTAMP_LTZ(3) METADATA FROM 'timestamp' VIRTUAL)
  WITH ('format' = 'json');

-- metadata-named-as-a-column: native
(`$metadata$timestamp` BIGINT, ts TIMESTAMP_LTZ(3) METADATA FROM 'timestamp') WITH ('format' = 'json');

-- topics: native
(id BIGINT, where_to STRING METADATA FROM 'topic') WITH ('topic' = 'a;b', 'format' = 'json');

-- one-topic-twice: native
(id BIGINT, where_to STRING METADATA FROM 'topic') WITH ('topic' = 'a;a', 'format' = 'json');

-- partitioner-default: native
(id BIGINT) WITH ('format' = 'json', 'sink.partitioner' = 'default');

-- partitioner-round-robin: native
(id BIGINT) WITH ('format' = 'json', 'sink.partitioner' = 'round-robin');

-- partitioner-fixed: native
(id BIGINT) WITH ('format' = 'json', 'sink.partitioner' = 'fixed');

-- exactly-once: native
(id BIGINT) WITH ('format' = 'json', 'sink.delivery-guarantee' = 'exactly-once', 'sink.transactional-id-prefix' = 'p');

-- upsert: native
(id BIGINT, name STRING, PRIMARY KEY (id) NOT ENFORCED)
  WITH ('connector' = 'penstock-upsert-kafka', 'key.format' = 'json', 'value.format' = 'json');

-- upsert-with-a-composite-key: native
(k_a INT, v STRING, k_b STRING, PRIMARY KEY (k_b, k_a) NOT ENFORCED) WITH ('connector' = 'penstock-upsert-kafka',
  'key.format' = 'csv', 'key.csv.field-delimiter' = '|', 'value.format' = 'csv', 'key.fields-prefix' = 'k_',
  'value.fields-include' = 'EXCEPT_KEY');

-- upsert-with-conflicting-options: native
(t TIMESTAMP(3), v TIMESTAMP(3), PRIMARY KEY (t) NOT ENFORCED) WITH ('connector' = 'penstock-upsert-kafka',
  'key.format' = 'json', 'key.json.timestamp-format.standard' = 'ISO-8601', 'value.format' = 'json');

-- upsert-with-odd-names: native
(`a;b` INT, `c'd` INT, `[e]` INT, v INT, PRIMARY KEY (`[e]`, `a;b`, `c'd`) NOT ENFORCED)
  WITH ('connector' = 'penstock-upsert-kafka', 'key.format' = 'json', 'value.format' = 'json');

-- upsert-with-metadata: native with connector 5.0: the metadata 'headers' is written
(id BIGINT, h MAP<STRING, BYTES> METADATA FROM 'headers', name STRING, PRIMARY KEY (id) NOT ENFORCED)
  WITH ('connector' = 'penstock-upsert-kafka', 'key.format' = 'raw', 'value.format' = 'json');

-- upsert-to-several-topics: native
(id BIGINT, to_topic STRING METADATA FROM 'topic', PRIMARY KEY (id) NOT ENFORCED)
  WITH ('connector' = 'penstock-upsert-kafka', 'topic' = 'a;b', 'key.format' = 'json', 'value.format' = 'json');

-- switched-off: fallback: 'penstock.enabled' is false
(id BIGINT) WITH ('format' = 'json', 'penstock.enabled' = 'false');

-- topic-pattern: fallback: 'topic-pattern' is 'f.*'; write the topics into 'topic'
(id BIGINT) WITH ('topic-pattern' = 'f.*', 'format' = 'json');

-- topics-without-metadata: fallback, refused: 'topic' names [a, b]
(id BIGINT) WITH ('topic' = 'a;b', 'format' = 'json');

-- partitioner-of-a-user: fallback: 'sink.partitioner' is the class dev.penstock.flink.table.AdmissionCasesTest$FirstPartition
(id BIGINT) WITH ('format' = 'json', 'sink.partitioner' = 'dev.penstock.flink.table.AdmissionCasesTest$FirstPartition');

-- pooling: fallback: 'sink.transaction-naming-strategy' is 'POOLING'
(id BIGINT) WITH ('format' = 'json', 'sink.transaction-naming-strategy' = 'POOLING',
  'sink.delivery-guarantee' = 'exactly-once', 'sink.transactional-id-prefix' = 'p');

-- buffered-upsert: fallback: 'sink.buffer-flush.max-rows'
(id BIGINT, name STRING, PRIMARY KEY (id) NOT ENFORCED) WITH ('connector' = 'penstock-upsert-kafka', 'key.format' = 'json',
  'value.format' = 'json', 'sink.buffer-flush.max-rows' = '10', 'sink.buffer-flush.interval' = '1 s');

-- half-buffered-upsert: invalid: must be set to be greater than zero together
(id BIGINT, name STRING, PRIMARY KEY (id) NOT ENFORCED) WITH ('connector' = 'penstock-upsert-kafka', 'key.format' = 'json',
  'value.format' = 'json', 'sink.buffer-flush.max-rows' = '10');

-- format-of-a-user: fallback, refused: the value format is 'of-a-user'
(id BIGINT) WITH ('format' = 'of-a-user');

-- key-format-of-a-user: fallback, refused: record keys: the key format is 'of-a-user'
(id BIGINT, name STRING) WITH ('key.format' = 'of-a-user', 'key.fields' = 'id', 'format' = 'json');

-- csv-character-outside-of-the-plane: fallback, refused: 'csv.escape-character' is U+D83D
(id BIGINT) WITH ('format' = 'csv', 'csv.escape-character' = U&'\D83D');

-- csv-null-literal-with-half-a-pair: fallback: 'csv.null-literal' has half of a surrogate pair
(id BIGINT) WITH ('format' = 'csv', 'csv.null-literal' = U&'a\D83D');

-- map-in-avro-and-json: fallback: column 'm' has a MAP and is in the key and in the value
(m MAP<STRING, INT>, id INT) WITH ('key.format' = 'json', 'key.fields' = 'm', 'value.format' = 'avro');

-- avro-in-json: fallback: 'avro.encoding' is 'json'
(id BIGINT) WITH ('format' = 'avro', 'avro.encoding' = 'json');

-- avro-with-a-schema: fallback: 'avro-confluent.schema' is set
(id INT NOT NULL) WITH ('format' = 'avro-confluent', 'avro-confluent.url' = 'http://localhost:1', 'avro-confluent.schema' =
  '{"type": "record", "name": "r", "fields": [{"name": "id", "type": "int"}]}');

-- protobuf-class-that-is-not-there: invalid: get no.such.Message descriptors error
(id BIGINT) WITH ('format' = 'protobuf', 'protobuf.message-class-name' = 'no.such.Message');

-- protobuf-class-of-something-else: invalid: get java.lang.String descriptors error
(id BIGINT) WITH ('format' = 'protobuf', 'protobuf.message-class-name' = 'java.lang.String');

-- protobuf-group: fallback: is a group or has delimited encoding
(price ROW<amount BIGINT, exchange ROW<rate DOUBLE>>) WITH ('format' = 'protobuf',
  'protobuf.message-class-name' = 'dev.penstock.flink.table.messages.Order');

-- protobuf-null-literal: fallback: 'protobuf.write-null-string-literal' is
(id BIGINT) WITH ('format' = 'protobuf', 'protobuf.message-class-name' = 'dev.penstock.flink.table.messages.Order',
  'protobuf.write-null-string-literal' = 'a"b');

-- protobuf-column-of-another-type: invalid: LONG(protobuf) is not compatible of TINYINT
(id TINYINT) WITH ('format' = 'protobuf', 'protobuf.message-class-name' = 'dev.penstock.flink.table.messages.Order');

-- protobuf-column-that-flink-does-not-open: fallback: Flink's protobuf format cannot write the table's columns into
(state SMALLINT) WITH ('format' = 'protobuf',
  'protobuf.message-class-name' = 'dev.penstock.flink.table.messages.Order');

-- raw-charset: fallback: 'raw.charset' is 'UTF-16'
(s STRING) WITH ('format' = 'raw', 'raw.charset' = 'UTF-16');

-- raw-key-charset: fallback: record keys: 'raw.charset' is 'UTF-16'
(s STRING) WITH ('key.format' = 'raw', 'key.fields' = 's', 'key.raw.charset' = 'UTF-16', 'format' = 'json');

-- raw-type: fallback: has type RAW
(x RAW('java.lang.String',
  'AFRvcmcuYXBhY2hlLmZsaW5rLmFwaS5jb21tb24udHlwZXV0aWxzLmJhc2UuU3RyaW5nU2VyaWFsaXplciRTdHJpbmdTZXJpYWxpemVyU25hcHNob3QAAAAD'))
  WITH ('format' = 'raw');

-- raw-of-two-columns: invalid: The 'raw' format only supports single physical column
(a INT, b INT) WITH ('format' = 'raw');

-- changelog-key: invalid: A key format should only deal with INSERT-only records
(id BIGINT, name STRING) WITH ('key.format' = 'debezium-json', 'key.fields' = 'id', 'format' = 'json');

-- upsert-without-primary-key: invalid: PRIMARY KEY
(id BIGINT) WITH ('connector' = 'penstock-upsert-kafka', 'key.format' = 'json', 'value.format' = 'json');

-- upsert-of-changelogs: invalid: is not in insert-only mode
(id BIGINT, PRIMARY KEY (id) NOT ENFORCED)
  WITH ('connector' = 'penstock-upsert-kafka', 'key.format' = 'json', 'value.format' = 'debezium-json');

-- tls: native
(id BIGINT) WITH ('format' = 'json', 'properties.security.protocol' = 'SSL');

-- cipher-suites: fallback: property 'ssl.cipher.suites' is not translated
(id BIGINT) WITH ('format' = 'json', 'properties.security.protocol' = 'SSL',
  'properties.ssl.cipher.suites' = 'TLS_AES_128_GCM_SHA256');

-- kerberos: fallback: property 'sasl.mechanism' is 'GSSAPI'; native are PLAIN
(id BIGINT) WITH ('format' = 'json', 'properties.security.protocol' = 'SASL_SSL', 'properties.sasl.mechanism' = 'GSSAPI');

-- unknown-property: fallback: property 'nobody.knows' is not known to Penstock
(id BIGINT) WITH ('format' = 'json', 'properties.nobody.knows' = '1');

-- untranslated-property: fallback: property 'partitioner.ignore.keys' is not translated
(id BIGINT) WITH ('format' = 'json', 'properties.partitioner.ignore.keys' = 'true');

-- connections-as-the-user-wants-them: native
(id BIGINT) WITH ('format' = 'json', 'properties.send.buffer.bytes' = '-1', 'properties.receive.buffer.bytes' = '65536',
  'properties.client.dns.lookup' = 'resolve_canonical_bootstrap_servers_only', 'properties.enable.metrics.push' = 'false',
  'properties.metadata.recovery.strategy' = 'none', 'properties.metadata.recovery.rebootstrap.trigger.ms' = '7000');

-- config-providers: fallback: property 'client.id' is for 'config.providers' to resolve
(id BIGINT) WITH ('format' = 'json', 'properties.config.providers' = 'env', 'properties.client.id' = '${env:ID}');

-- wrong-property: fallback: the Kafka client refuses its properties
(id BIGINT) WITH ('format' = 'json', 'properties.acks' = '7');

-- short-delivery-timeout: fallback: property 'delivery.timeout.ms' is 10
(id BIGINT) WITH ('format' = 'json', 'properties.delivery.timeout.ms' = '10');

-- long-request-timeout: fallback: property 'request.timeout.ms' is 900001
(id BIGINT) WITH ('format' = 'json', 'properties.request.timeout.ms' = '900001',
  'properties.delivery.timeout.ms' = '1000000');

-- short-connection-setup: fallback: property 'socket.connection.setup.timeout.max.ms' is 10
(id BIGINT) WITH ('format' = 'json', 'properties.socket.connection.setup.timeout.max.ms' = '10');

-- no-idle-time: fallback: property 'connections.max.idle.ms' is 0
(id BIGINT) WITH ('format' = 'json', 'properties.connections.max.idle.ms' = '0');

-- no-metadata-age: fallback: property 'metadata.max.age.ms' is 0
(id BIGINT) WITH ('format' = 'json', 'properties.metadata.max.age.ms' = '0');
