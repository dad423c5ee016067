package main

import "github.com/segmentio/kafka-go"

var r = kafka.NewReader(kafka.ReaderConfig{GroupID: "g", Topic: "t", SessionTimeout: 30 * time.Second, HeartbeatInterval: 3 * time.Second})
