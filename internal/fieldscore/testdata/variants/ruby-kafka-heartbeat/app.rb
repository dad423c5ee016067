require "kafka"
consumer = kafka.consumer(group_id: "mail", session_timeout: 10, heartbeat_interval: 20)
