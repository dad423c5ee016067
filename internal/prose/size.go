package prose

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// sizes are the units of bytes, the largest first: powers of a thousand.
var sizes = []struct {
	unit  string
	bytes int64
}{{"TB", 1e12}, {"GB", 1e9}, {"MB", 1e6}, {"kB", 1e3}, {"B", 1}}

// Size is a number of bytes with two or three figures, "1.3 GB"; below zero it is 0 B.
func Size(n int64) string {
	for _, s := range sizes {
		switch x := float64(n) / float64(s.bytes); {
		case x >= 10 || x >= 1 && s.bytes == 1:
			return fmt.Sprintf("%.0f %s", x, s.unit)
		case x >= 1:
			return fmt.Sprintf("%.1f %s", x, s.unit)
		}
	}
	return "0 B"
}

// errSize is a text that is no size.
var errSize = errors.New("want a number above zero with kB, MB or GB, as in 200MB")

// ParseSize reads what Size writes, with or without the space: bytes, above zero. The
// unit may be in any case, and KiB, MiB and GiB are taken for powers of 1024.
func ParseSize(text string) (int64, error) {
	text = strings.TrimSpace(text)
	end := strings.IndexFunc(text, func(r rune) bool { return (r < '0' || r > '9') && r != '.' })
	if end < 0 {
		return 0, errSize
	}
	n, err := strconv.ParseFloat(text[:end], 64)
	factor := int64(0)
	switch strings.ToLower(strings.TrimSpace(text[end:])) {
	case "b":
		factor = 1
	case "kb":
		factor = 1e3
	case "mb":
		factor = 1e6
	case "gb":
		factor = 1e9
	case "tb":
		factor = 1e12
	case "kib":
		factor = 1 << 10
	case "mib":
		factor = 1 << 20
	case "gib":
		factor = 1 << 30
	}
	bytes := n * float64(factor)
	if err != nil || bytes < 1 || bytes > 1e15 {
		return 0, errSize
	}
	return int64(bytes), nil
}

// Progress is how far something is, how many bytes that took, and from the second second
// on how long the rest may take: "42%  31 MB  12s left". Without bytes it is the share.
func Progress(done, total, bytes int64, took time.Duration) string {
	text := fmt.Sprintf("%d%%", 100*done/max(total, 1))
	if bytes <= 0 {
		return text
	}
	text += "  " + Size(bytes)
	if took >= 2*time.Second && done > 0 && done < total {
		left := time.Duration(float64(took) * float64(total-done) / float64(done))
		text += "  " + Span(max(left.Round(time.Second), time.Second)) + " left"
	}
	return text
}
