package main

import "github.com/segmentio/kafka-go"

var r = kafka.NewReader(kafka.ReaderConfig{
	Brokers: []string{"kafka:9092"}, GroupID: "g", Topic: "t",
	SessionTimeout: 10 * time.Second, HeartbeatInterval: 9 * time.Second,
})
