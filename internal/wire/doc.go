// Package wire stands between a client and the brokers of a cluster in tests. It
// decodes every request, keeps a list of them, and lets a function decide what becomes
// of each: passed, held back, never answered, cut off, or answered with other bytes. It
// refuses to know what kgdiag may ask: the tests that read its list judge that.
package wire
