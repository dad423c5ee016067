import Config
config :kafka_ex,
  brokers: [{"localhost", 9092}],
  consumer_group: "g",
  heartbeat_interval: 10_000,
  session_timeout: 10_000
