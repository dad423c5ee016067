//go:build race

package advise_test

// raceFactor divides the number of random cases under the race detector, which
// makes each of them many times slower.
const raceFactor = 20
