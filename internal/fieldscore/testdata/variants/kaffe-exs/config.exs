import Config
config :kaffe,
  consumer: [
    endpoints: [kafka: 9092], topics: ["t"], consumer_group: "g", message_handler: H,
    rebalance_delay_ms: 100, max_bytes: 10_000,
    group_config: [session_timeout_seconds: 10, heartbeat_rate_seconds: 10]
  ]
config :brod, clients: []
