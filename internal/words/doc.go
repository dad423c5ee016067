// Package words holds how kgdiag speaks as a test: Kafka's own terms where Kafka has
// one, and the word that an engineer on call would say aloud where it has none. It
// reads the string literals of the sources, the documents and the transcripts, and
// refuses to look at comments and names.
package words
