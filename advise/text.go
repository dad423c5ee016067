package advise

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/kgdiag/kgdiag/internal/prose"
)

// span is a duration as a reader says it, exactly: 350ms, 2.5s, 45s, 5m, 7m48s,
// 1h30m, 2d03h.
func span(d time.Duration) string { return prose.Exact(d) }

// ms is a duration as the value of a setting.
func ms(d time.Duration) string { return strconv.FormatInt(d.Milliseconds(), 10) }

// whole is a value as a whole number; false for anything else, such as "500x".
func whole(value string) (int64, bool) {
	n, err := strconv.ParseInt(strings.TrimSpace(value), 10, 64)
	return n, err == nil
}

// count is "1 member", "2 members".
func count(n int, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return fmt.Sprintf("%d %ss", n, word)
}

// list joins at most five words, and says how many more there are.
func list(words []string) string { return prose.Few(words, 5) }

// third is the longest heartbeat interval that fits three times into a session, in
// whole seconds where it is over a second, in tenths below.
func third(session time.Duration) time.Duration {
	d := session / 3
	if d >= time.Second {
		return d.Truncate(time.Second)
	}
	return max(d.Truncate(100*time.Millisecond), minHeartbeat)
}

func sortedKeys[K ~string, V any](m map[K]V) []K {
	keys := make([]K, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// maxInt is Integer.MAX_VALUE as a number of milliseconds: the largest value of a
// Java setting, by which people say "never".
const maxInt = math.MaxInt32 * time.Millisecond

// reason is a rule's summary within a sentence: "the session timeout is above ...".
func reason(id string) string {
	text := strings.TrimSuffix(catalog[id].Doc.Summary, ".")
	if first, _, _ := strings.Cut(text, " "); len(first) > 1 && first[1:] == strings.ToLower(first[1:]) && first != "Java" && first != "Kafka's" {
		text = strings.ToLower(text[:1]) + text[1:]
	}
	return text
}

// notesFor merges notes.
func notesFor(kv ...string) map[string]string {
	m := map[string]string{}
	for i := 0; i+1 < len(kv); i += 2 {
		if kv[i+1] != "" {
			m[kv[i]] = kv[i+1]
		}
	}
	return m
}
