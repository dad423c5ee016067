// Package trust holds the tests of what docs/security.md promises: hostile files and
// brokers, secrets, text from outside, and requests that only read. They run kgdiag as a
// process of its own, with limits of time and memory, against files of all kinds and a
// simulated cluster behind a faulty proxy. It refuses to reach into kgdiag: what is held
// here is what a user sees.
package trust
