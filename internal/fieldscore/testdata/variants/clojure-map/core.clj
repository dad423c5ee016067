(ns app.core (:import [org.apache.kafka.clients.consumer KafkaConsumer]))
(def cfg {"bootstrap.servers" "kafka:9092" "group.id" "g" "max.poll.interval.ms" "30000"})
