require "kafka"
consumer = kafka.consumer(group_id: "g", session_timeout: 45, heartbeat_interval: 10)
