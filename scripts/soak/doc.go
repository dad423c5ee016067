// Command soak runs kgdiag watch for a long time against a cluster whose groups never
// come to rest, and notes what it takes: memory, open files and goroutines every half
// minute. It ends with an error if one of them grew, or if a generation was missed or
// told twice, and draws the curve for docs/security.md.
//
//	scripts/kafka run 4.1.1 1 -- go run ./scripts/soak -for 60m -rate 200 -commits 5000 -svg docs/img/soak.svg
//
// It refuses to judge what watch says of causes: the suite on real brokers does.
package main
