package prose

import (
	"cmp"
	"slices"
	"strings"
)

// mostNear is how many words are offered for one that is not known.
const mostNear = 3

// longestWord is up to how many bytes something may be the misspelling of a word: the
// time to compare grows with the square.
const longestWord = 200

// Nearest is the one of words that the fewest edits make of word, case ignored, or ""
// where all need more than most. Of several as near, it is the first.
func Nearest(word string, words []string, most int) string {
	if len(word) > longestWord {
		return ""
	}
	best, want := "", strings.ToLower(word)
	for _, w := range words {
		if d := distance(want, strings.ToLower(w), most); d <= most {
			best, most = w, d-1
		}
	}
	return best
}

// NearestFew are the words that word may be a misspelling of, nearest first, at most
// three: those within a third of its length in edits (at least one), case ignored, and
// those that it begins or that begin it; but only such as are hardly farther away than
// the nearest.
func NearestFew(word string, words []string) []string {
	type candidate struct {
		word string
		d    int
	}
	if len(word) > longestWord {
		return nil
	}
	limit := max(1, len([]rune(word))/3)
	want := strings.ToLower(word)
	var found []candidate
	for _, w := range words {
		have := strings.ToLower(w)
		d := distance(want, have, limit)
		if d > limit {
			if !strings.HasPrefix(have, want) && !strings.HasPrefix(want, have) || have == "" || want == "" {
				continue
			}
			d = limit + 1
		}
		if d == 0 && w == word {
			continue
		}
		found = append(found, candidate{w, d})
	}
	slices.SortFunc(found, func(a, b candidate) int { return cmp.Or(a.d-b.d, strings.Compare(a.word, b.word)) })
	var out []string
	for _, f := range found[:min(len(found), mostNear)] {
		if f.d > found[0].d+1 {
			break
		}
		out = append(out, f.word)
	}
	return out
}

// distance is the number of insertions, deletions, replacements and swaps of
// neighbours (optimal string alignment) that turn a into b; limit+1 where it is
// more than limit.
func distance(a, b string, limit int) int {
	x, y := []rune(a), []rune(b)
	if d := len(x) - len(y); d > limit || -d > limit {
		return limit + 1
	}
	var before []int
	last := make([]int, len(y)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(x); i++ {
		row := make([]int, len(y)+1)
		row[0] = i
		least := row[0]
		for j := 1; j <= len(y); j++ {
			swap := 0
			if x[i-1] != y[j-1] {
				swap = 1
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+swap)
			if i > 1 && j > 1 && x[i-1] == y[j-2] && x[i-2] == y[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
			least = min(least, row[j])
		}
		if least > limit+1 {
			return limit + 1
		}
		before, last = last, row
	}
	return min(last[len(y)], limit+1)
}
