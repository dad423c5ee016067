// Package clientlog reads what clients, brokers and JVMs have logged into typed
// events: rejoins with their reason, evictions, poll timeouts, fenced members,
// failed commits and heartbeats, lost coordinators, pauses, versions, and the
// ConsumerConfig blocks, which are the best configuration there is.
//
// It streams: text of any size, plain or gzip, with the prefixes of Docker, Compose
// and Kubernetes, as JSON lines or plain, in several time formats, several clients
// in one file. The phrases are the libraries' own (Java 0.9 to 4.x, both broker
// coordinators, Streams, Connect, librdkafka, sarama, franz-go, kafka-go, kafkajs,
// kafka-python, aiokafka, JVM unified and JDK 8 GC logs).
//
// The package refuses to open files, to judge, and to keep secrets: values of keys
// that hold them are dropped, and quoted lines are masked. A cause is set only where
// the line states it.
package clientlog
