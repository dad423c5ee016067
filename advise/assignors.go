package advise

import (
	"strings"
)

// assignorNames reads a list of assignors as a file or a log writes it, and gives
// the protocol names that members send: "range" for
// org.apache.kafka.clients.consumer.RangeAssignor. Unknown classes keep their name.
func assignorNames(text string) []string {
	var out []string
	for _, word := range strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune("[], \t\"'", r) }) {
		out = append(out, assignorName(strings.TrimPrefix(word, "class")))
	}
	return out
}

func assignorName(word string) string {
	short := word
	if i := strings.LastIndexByte(word, '.'); i >= 0 {
		short = word[i+1:]
	}
	switch strings.ToLower(strings.NewReplacer("-", "", "_", "").Replace(short)) {
	case "rangeassignor", "range", "rangepartitionassignor":
		return "range"
	case "roundrobinassignor", "roundrobin", "roundrobinpartitionassignor", "roundrobinassigner":
		return "roundrobin"
	case "stickyassignor", "sticky", "stickypartitionassignor":
		return "sticky"
	case "cooperativestickyassignor", "cooperativesticky":
		return "cooperative-sticky"
	}
	return word
}

// cooperative reports whether an assignor keeps partitions through a rebalance.
func cooperative(assignor string) bool { return assignor == "cooperative-sticky" }

// eager reports whether an assignor takes all partitions away first; unknown ones
// are neither.
func eager(assignor string) bool {
	return assignor == "range" || assignor == "roundrobin" || assignor == "sticky"
}
