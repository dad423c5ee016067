package judge

import (
	"slices"
	"time"

	"github.com/kgdiag/kgdiag/inspect"
	"github.com/kgdiag/kgdiag/inspect/membership"
)

// tick is one commit call: the commits of several partitions at one moment.
type tick struct {
	at       time.Time
	after    time.Time // where polls saw it: it was made after this; zero: at that moment
	pos      int
	advanced bool
	step     int64 // largest step of one partition; -1 unknown
	total    int64 // sum of the known steps of all partitions
	part     membership.TopicPartition
	whole    bool // one call for several partitions
	thin     bool // commits before it were left out: the interval to it means nothing
}

// from is the earliest that it can have been made.
func (k *tick) from() time.Time {
	if k.after.IsZero() {
		return k.at
	}
	return k.after
}

// leastBeats is how many polls long a timer's beat must be to be told from theirs.
const leastBeats = 4

// cadence is how a member commits.
type cadence struct {
	ticks      []tick
	median     time.Duration // of the recent intervals
	most       time.Duration // longest recent interval, at most twice the median
	longest    time.Duration // longest recent interval
	fastest    time.Duration // tenth part of the recent intervals: what a record takes when records wait
	timer      bool          // regular, and not once per record: an auto-commit timer or as regular as one
	exactTimer bool          // its beat is a whole number of seconds and kept to a hundredth: a setting, not a loop
	jitter     time.Duration // of a timer: largest deviation from its beat
	beat       bool          // the last commit came on the timer's beat
	perRecord  bool          // every recent commit moved by at most one record
	repeats    bool          // commits although nothing moved
	switches   int           // how often recent commits went from one partition to another
	rate       float64       // records a second, recent
	keepsUp    bool          // waits for records between commits, so it polls between them
	alternates bool          // commits one record of one partition, then of another
	stepTime   time.Duration // median time a record took, where each was committed
	grain      time.Duration // how exactly the moments of the commits are known; 0 where they were read
}

// pace reads the cadence out of ticks.
func pace(ticks []tick) cadence {
	c := cadence{ticks: ticks}
	all := intervals(ticks)
	for i := len(ticks) - 1; i > 0; i-- { // the pace after what was left out
		if ticks[i].thin {
			if len(ticks)-i > recent {
				ticks = ticks[i:]
			}
			break
		}
	}
	if len(all) == 0 {
		return c
	}
	last := all[max(0, len(all)-recent):]
	c.median = median(last)
	c.longest = slices.Max(last)
	c.most = min(c.longest, 2*c.median)
	// Of the same commits as the median: a pace that changed says nothing of the new one.
	sorted := slices.Sorted(slices.Values(last))
	c.fastest = sorted[len(sorted)/10]
	near := ticks[max(0, len(ticks)-recent):]
	c.steps(near)
	for _, k := range near {
		c.grain = max(c.grain, k.at.Sub(k.from()))
	}
	// Of commits between two polls nobody knows how many they were.
	c.perRecord = c.perRecord && c.grain == 0
	c.rate = workRate(ticks)
	c.regular(last)
	c.keepsUp = c.fastest*2 <= c.median && c.grain == 0
	if c.perRecord {
		c.stepTime = median(all[max(0, len(all)-3*recent):])
		c.alternates = c.switches >= recent/2
	}
	return c
}

// polls reports whether a member polls between its commits: it waits for records, or
// it commits records of several partitions in turn, whose client hands out a batch
// partition by partition (librdkafka mixes them).
func (c *cadence) polls(f inspect.Family) bool {
	switch f {
	case inspect.Java, inspect.StreamsLib, inspect.KafkaPython, inspect.AIOKafka, inspect.FranzGo:
		return c.keepsUp || c.alternates
	}
	return c.keepsUp
}

// steps looks at how far the recent commits moved.
func (c *cadence) steps(near []tick) {
	c.perRecord = true
	zero, known := true, 0
	for i, k := range near {
		if k.step > 1 || k.step < -1 {
			c.perRecord = false
		}
		if k.step >= 0 {
			known++
			zero = zero && k.step == 0
		}
		if k.step == 0 {
			c.repeats = true
		}
		if i > 0 && k.part != near[i-1].part {
			c.switches++
		}
	}
	if known == 0 || zero {
		c.perRecord = false
	}
}

// workRate is the pace in records a second of the recent commits, up to the last
// that moved an offset.
func workRate(ticks []tick) float64 {
	end := len(ticks)
	for end > 0 && !ticks[end-1].advanced {
		end--
	}
	near := ticks[max(0, end-recent):end]
	if len(near) < 2 {
		return 0
	}
	var sum int64
	for _, k := range near[1:] {
		sum += max(0, k.total)
	}
	span := near[len(near)-1].at.Sub(near[0].at)
	if span <= 0 {
		return 0
	}
	return float64(sum) / span.Seconds()
}

// regular finds out whether the commits follow a timer, and whether the last one
// came on its beat. One interval may be off: the first after a rebalance is.
func (c *cadence) regular(last []time.Duration) {
	if len(last) < 3 || c.median <= 0 {
		return
	}
	earlier := last[:len(last)-1]
	mid := median(earlier)
	if mid < leastBeats*c.grain {
		return // the polls' own beat
	}
	off := 0
	for _, d := range earlier {
		if dev := (d - mid).Abs(); dev > mid/10 {
			off++
		} else {
			c.jitter = max(c.jitter, dev)
		}
	}
	c.timer = (off == 0 || off == 1 && len(earlier) >= 3) && !c.perRecord
	if !c.timer {
		return
	}
	c.exactTimer = c.grain == 0 && mid >= time.Second && c.jitter <= mid/100 && (mid-mid.Round(time.Second)).Abs() <= mid/100
	c.beat = (last[len(last)-1] - mid).Abs() <= mid/40+c.grain
	c.median = mid
	c.most = max(c.most, mid)
}

func intervals(ticks []tick) []time.Duration {
	var out []time.Duration
	for i := 1; i < len(ticks); i++ {
		if !ticks[i].thin {
			out = append(out, max(0, ticks[i].at.Sub(ticks[i-1].at)))
		}
	}
	return out
}

func median(in []time.Duration) time.Duration {
	if len(in) == 0 {
		return 0
	}
	s := slices.Sorted(slices.Values(in))
	return s[len(s)/2]
}
