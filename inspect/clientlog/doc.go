// Package clientlog reads what clients, brokers and JVMs have logged into typed
// events, in three steps.
//
// The envelope (envelope.go, structured.go, times.go) is what a logger puts around a
// message: patterns of log4j and logback, JSON of many shapes, logfmt, syslog and
// journal, names of containers, librdkafka's bars. Lines that continue another one
// have its time and speaker.
//
// The sentence (sentence.go, sentences.tsv) is the message. The table holds the log
// statements of the group code of each library, from the sources of several versions
// of each, as an event or as noise; an index finds the few that may stand in a line,
// so that lines of other programs cost next to nothing.
//
// The error (package errcode) is the Kafka error that a message names, in any
// client's words: no line that has one goes unseen.
//
// The package refuses to open files, to judge, and to keep secrets: values of keys
// that hold them are dropped, and quoted lines are masked. A cause is set only where
// the line states it.
package clientlog
