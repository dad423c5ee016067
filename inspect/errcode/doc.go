// Package errcode holds Kafka's whole table of error codes: number, name, the
// message of the protocol, the exception of the Java client, the wordings of the
// other clients, and for those that concern groups what they mean and what to do.
//
// clients.tsv has the errors that clients and frameworks raise by themselves. The table of
// Kafka is errors.tsv. Its facts are those of Errors.java of Kafka (0.9 to 4.x),
// kerr of franz-go 1.21, rdkafka.c of librdkafka 2.15, and the error tables of
// sarama 1.60, kafka-go 0.4, kafkajs 2.2, kafka-python 2 and 3, and ruby-kafka 1.5.
//
// The package refuses to guess: a text that is none of the wordings is no error.
package errcode
