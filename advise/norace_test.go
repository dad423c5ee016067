//go:build !race

package advise_test

const raceFactor = 1
