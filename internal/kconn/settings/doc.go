// Package settings finds out which cluster is meant, and what counts for each key of
// connecting: flags, environment, client.properties, named contexts. The sources stand
// in one ordered table (sources.go), and each value knows the place it came from, so
// that a mistake is reported with file and line.
//
// Keys are read in both spellings in use, Java's and librdkafka's. The package reads
// files, and environment variables through the function that it is given; it dials
// nothing, prints nothing, judges no value but the addresses, and never shows a secret.
package settings
