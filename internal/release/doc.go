// Package release guesses which release of Kafka a broker is from what it answers to
// ApiVersions, in one way for all who ask. It refuses to say more than the answer does: a
// range stays a range.
package release
