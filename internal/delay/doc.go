// Package delay puts a simulated cluster at a distance: each connection costs one round
// trip to open, and bytes take half of one each way. Inside a bubble of testing/synctest
// the time that a run takes, divided by the round trip, is then the number of round trips
// that had to wait for each other, on any machine and under any load.
//
// Tests alone import it. It knows Kafka's frames only so far as to count requests, and
// models no bandwidth: a byte costs nothing, an answer waited for does.
package delay
