package inspect

import "time"

// PollMarginNum and PollMarginDen are the margin that kgdiag adds to the longest
// time between two polls before it recommends a max.poll.interval.ms: 5/4, that is
// 1.25. It is kgdiag's own policy: no published source gives a number (the
// KafkaConsumer javadoc asks only for "enough").
const (
	PollMarginNum = 5
	PollMarginDen = 4
)

// HeartbeatsPerSession is how many heartbeats must fit into one session timeout:
// 3, from the documentation of heartbeat.interval.ms ("typically should be set no
// higher than 1/3 of that value", CommonClientConfigs).
const HeartbeatsPerSession = 3

// ladder holds the round durations that kgdiag recommends below one hour; above,
// whole hours follow. A person reads 600000 at a glance and 585000 not.
var ladder = []time.Duration{
	1 * time.Second, 2 * time.Second, 5 * time.Second, 10 * time.Second, 15 * time.Second,
	20 * time.Second, 30 * time.Second, 45 * time.Second,
	1 * time.Minute, 2 * time.Minute, 3 * time.Minute, 5 * time.Minute, 6 * time.Minute,
	8 * time.Minute, 10 * time.Minute, 12 * time.Minute, 15 * time.Minute, 20 * time.Minute,
	25 * time.Minute, 30 * time.Minute, 45 * time.Minute, 60 * time.Minute,
}

// RoundUp is the first step of the ladder 1 2 5 10 15 20 30 45 s, 1 2 3 5 6 8 10
// 12 15 20 25 30 45 60 min, then whole hours, that is not below d. Durations that
// no whole hour below the largest time.Duration covers come back unchanged.
func RoundUp(d time.Duration) time.Duration {
	for _, step := range ladder {
		if d <= step {
			return step
		}
	}
	hours := d / time.Hour
	if d%time.Hour == 0 {
		return d
	}
	if up := (hours + 1) * time.Hour; up > d {
		return up
	}
	return d
}

// WithMargin is need × 1.25, saturating at the largest time.Duration.
func WithMargin(need time.Duration) time.Duration {
	const most = time.Duration(1<<63 - 1)
	if need > most/PollMarginNum*PollMarginDen {
		return most
	}
	return need/PollMarginDen*PollMarginNum + need%PollMarginDen*PollMarginNum/PollMarginDen
}

// PollIntervalFor is the max.poll.interval.ms to recommend for a consumer whose
// longest time between two polls is need: with the margin, rounded up the ladder,
// and never below def (the client's default) or present (what is set now); zero
// for either means that there is none. 8 min gives 10 min.
func PollIntervalFor(need, def, present time.Duration) time.Duration {
	return max(RoundUp(WithMargin(need)), def, present)
}

// RecordsDown is the largest of 1 2 5 10 20 25 50 100 200 250 500 1000 2000 2500
// 5000 … that is not above n, or 0 for n below 1: a max.poll.records to recommend.
func RecordsDown(n int64) int64 {
	if n < 1 {
		return 0
	}
	best := int64(1)
	for decade := int64(1); ; decade *= 10 {
		for _, step := range []int64{decade, 2 * decade, decade * 5 / 2, 5 * decade} {
			if step == best { // 2.5 records
				continue
			}
			if step > n {
				return best
			}
			best = step
		}
		if decade > n/10 {
			return best
		}
	}
}
