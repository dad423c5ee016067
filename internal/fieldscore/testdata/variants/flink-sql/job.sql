CREATE TABLE orders (id STRING) WITH (
  'connector' = 'kafka', 'topic' = 'orders', 'properties.bootstrap.servers' = 'k:9092',
  'properties.group.id' = 'g',
  'properties.session.timeout.ms' = '10000',
  'properties.heartbeat.interval.ms' = '10000'
);
