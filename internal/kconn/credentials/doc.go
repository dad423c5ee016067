// Package credentials makes the SASL mechanism of a connection from the settings:
// PLAIN, SCRAM, OAUTHBEARER with a token endpoint or a token file, AWS MSK IAM and
// GSSAPI. Tokens are fetched when a broker asks for them, not before. It never shows a
// secret, and it makes no unsecured token.
package credentials
