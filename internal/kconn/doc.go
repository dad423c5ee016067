// Package kconn turns what a user has at hand (flags, environment, a
// client.properties, a named context) into a connected, authenticated and
// read-only Kafka client. It is the only place where kgdiag builds one.
//
// Settings are read in both spellings in use, Java's and librdkafka's, and each
// value remembers where it came from, so that a mistake is reported with file and
// line. Every way in which connecting can go wrong ends in an *Error of one line
// with a hint; when the plain error does not tell, the listener itself is asked
// what it speaks (TLS or not, SASL or not and with which mechanisms, Kafka at all).
//
// The client holds the request kinds of ReadOnlyKeys alone: anything that would
// write is refused before it is sent. The package reads environment variables
// only through the function that it is given, never prints, and never shows a
// secret. It knows nothing of consumer groups.
package kconn
