// Package prose holds the small forms of prose that every layer prints: durations,
// lines broken at a width, a few names of many, and the word that a mistyped one was
// meant to be.
//
// It is the ground floor: it imports nothing of ours, knows nothing of Kafka, and
// writes nothing; it only gives strings back.
package prose
