// Package clientconf reads the configuration files of Kafka consumers: text in,
// one inspect.ClientConfig per consumer out, each setting under its Java name,
// with the file, the line and the spelling in which it was found.
//
// It judges nothing: what is odd about the text itself (a misspelt key, a broker
// key, a value that is no number, a key that is set twice) becomes a
// ConfigProblem, and the rules of package advise decide what it means. Settings
// that are not in the text are left out; their defaults depend on the client and
// are added by package advise. No secret is kept: the value of a password, a JAAS
// line or a key is dropped here.
//
// A dialect is one file that registers itself. The package does no I/O and imports
// nothing of ours but inspect and its own properties parser.
package clientconf
