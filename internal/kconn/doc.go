// Package kconn makes a connected, authenticated and read-only Kafka client of what a
// user has at hand (flags, environment, a client.properties, a named context). It is
// the only place where kgdiag builds one. Three steps follow one another: package
// settings finds out which cluster is meant and what counts for each key; packages
// stores and credentials make TLS and SASL of it; this one dials.
//
// Every way in which connecting can go wrong ends in a *fault.Error of one line with a
// hint; when the plain error does not tell, the listener itself is asked what it
// speaks (TLS or not, SASL or not and with which mechanisms, Kafka at all).
//
// The client holds the request kinds of ReadOnlyKeys alone: anything that would
// write is refused before it is sent. The package reads environment variables
// only through the function that it is given, never prints, and never shows a
// secret. It knows nothing of consumer groups.
package kconn
