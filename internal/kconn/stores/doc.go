// Package stores reads trust and key material, in every form that Kafka's clients take:
// PEM files and text, JKS, PKCS12, encrypted keys of old and new schemes. It makes the
// TLS configuration of a connection from the settings. It dials nothing, and it writes
// no store.
package stores
