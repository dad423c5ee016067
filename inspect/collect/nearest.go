package collect

import (
	"cmp"
	"slices"
	"strings"
)

// maxNearest is how many ids are offered for one that is not found.
const maxNearest = 3

// Nearest gives the ids that name may be a misspelling of, nearest first, at most
// three: those within an edit distance of a third of its length (at least 1), with
// case ignored, and those that it begins or that begin it; but only such as are
// hardly farther away than the nearest.
func Nearest(name string, ids []string) []string {
	type candidate struct {
		id string
		d  int
	}
	limit := max(1, len([]rune(name))/3)
	want := strings.ToLower(name)
	var found []candidate
	for _, id := range ids {
		have := strings.ToLower(id)
		d := distance(want, have, limit)
		if d > limit {
			if !strings.HasPrefix(have, want) && !strings.HasPrefix(want, have) || have == "" || want == "" {
				continue
			}
			d = limit + 1
		}
		if d == 0 && id == name {
			continue
		}
		found = append(found, candidate{id, d})
	}
	slices.SortFunc(found, func(a, b candidate) int { return cmp.Or(a.d-b.d, strings.Compare(a.id, b.id)) })
	var out []string
	for _, f := range found[:min(len(found), maxNearest)] {
		if f.d > found[0].d+1 {
			break
		}
		out = append(out, f.id)
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
