require "kafka"
kafka = Kafka.new(["kafka:9092"], client_id: "app")
consumer = kafka.consumer(group_id: "mail", session_timeout: 30, heartbeat_interval: 10)
consumer.subscribe("mails")
consumer.each_message { |m| deliver(m) }
