// Package family infers which client library a group member runs on, from what a
// broker or the offsets log shows of it: client id, shape of the member id, names
// of assignors, bytes of the subscription, timeouts. The library decides which
// timeout means what, hence the inference carries a confidence and its reasons.
//
// The package is pure. It refuses to be sure where a sign can be set by a user.
package family
