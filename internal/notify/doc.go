// Package notify hands documents to a web hook: each as JSON by POST, in order, with a
// bounded number of tries, in a goroutine of its own, so that a hook that is slow or gone
// never holds up whoever sends.
//
// The address may hold a secret, so no error and no message of this package quotes more of
// it than its host. Redirections are not followed: they would turn a POST into a GET, or
// carry a document to a host that nobody named.
package notify
