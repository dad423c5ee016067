package kconn

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// wire is the log of what went to the brokers and when, for --debug: which of the
// requests waited for which answers, and how many bytes they were.
type wire struct {
	mu       sync.Mutex
	crossed  []crossing
	out      io.Writer
	greeting int // length of the greeting, which the dialer notes itself
}

// crossing is a request with its answer, or a connection.
type crossing struct {
	what, broker   string
	sent, answered time.Time
	wrote, read    int // bytes
	failed         bool
}

// note adds a crossing; a nil wire notes nothing.
func (w *wire) note(x crossing) {
	if w == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.crossed = append(w.crossed, x)
}

// OnBrokerE2E is kgo's: a request was answered, or failed.
func (w *wire) OnBrokerE2E(to kgo.BrokerMetadata, key int16, e kgo.BrokerE2E) {
	if key == int16(kmsg.ApiVersions) && e.BytesWritten == w.greeting {
		return
	}
	now := time.Now()
	w.note(crossing{what: kmsg.NameForKey(key), broker: brokerLabel(to), sent: now.Add(-e.ReadWait - e.TimeToRead), answered: now,
		wrote: e.BytesWritten, read: e.BytesRead, failed: e.Err() != nil})
}

func brokerLabel(b kgo.BrokerMetadata) string {
	if b.NodeID < 0 {
		return "bootstrap"
	}
	return fmt.Sprint("broker ", b.NodeID)
}

// write draws what was noted.
func (w *wire) write() {
	if w == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	_, _ = io.WriteString(w.out, waterfall(w.crossed))
}

// barWidth is how many columns the time from the first request to the last answer
// takes in a waterfall.
const barWidth = 40

// waterfall draws crossings in the order in which they were sent.
func waterfall(crossed []crossing) string {
	if len(crossed) == 0 {
		return ""
	}
	list := slices.Clone(crossed)
	slices.SortStableFunc(list, func(a, b crossing) int { return a.sent.Compare(b.sent) })
	first := list[0].sent
	last := slices.MaxFunc(list, func(a, b crossing) int { return a.answered.Compare(b.answered) }).answered
	span := max(last.Sub(first), time.Microsecond)
	column := func(t time.Time) int { return int(int64(barWidth) * int64(t.Sub(first)) / int64(span)) }
	requests, connections, wrote, read := 0, 0, 0, 0
	var lines strings.Builder
	for _, x := range list {
		if x.what == connecting {
			connections++
		} else {
			requests++
		}
		wrote, read = wrote+x.wrote, read+x.read
		from, to := min(column(x.sent), barWidth-1), column(x.answered)
		to = min(max(to, from+1), barWidth)
		note := ""
		if x.failed {
			note = "  failed"
		}
		fmt.Fprintf(&lines, "wire  %8.1f %8.1f  %-10s %-22s %7d %9d  |%s%s%s|%s\n", millisOf(x.sent.Sub(first)), millisOf(x.answered.Sub(first)),
			x.broker, x.what, x.wrote, x.read, strings.Repeat(" ", from), strings.Repeat("=", to-from), strings.Repeat(" ", barWidth-to), note)
	}
	return fmt.Sprintf("wire  %d requests on %d connections, %d bytes sent and %d read, in %.1f ms; up to %d round trips in a row\n"+
		"wire      sent  answered  broker     request                  bytes      read\n%s",
		requests, connections, wrote, read, millisOf(span), inARow(list), lines.String())
}

func millisOf(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// inARow is the longest chain of crossings of which each was sent after the one before
// had been answered. That it waited for it is likely, and not proved. The list is in the
// order of sending.
func inARow(list []crossing) int {
	byAnswer := slices.Clone(list)
	slices.SortFunc(byAnswer, func(a, b crossing) int { return cmp.Compare(a.answered.UnixNano(), b.answered.UnixNano()) })
	depth := make(map[crossing]int, len(list))
	longest, best, answered := 0, 0, 0 // best of those answered so far
	for _, x := range list {
		for answered < len(byAnswer) && !byAnswer[answered].answered.After(x.sent) {
			best = max(best, depth[byAnswer[answered]])
			answered++
		}
		depth[x] = best + 1
		longest = max(longest, best+1)
	}
	return longest
}

// connecting is the crossing of a connection, which a TLS handshake makes longer.
const connecting = "connect"
