CREATE TABLE kafka_orders ( ... ) WITH (
  -- ...
  'scan.startup.mode'                       = 'earliest-offset'
);
