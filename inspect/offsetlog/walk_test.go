package offsetlog

import (
	"reflect"
	"testing"
)

// TestSieve: the short way past commits that nobody wants finds what the long one finds.
func TestSieve(t *testing.T) {
	const n = 2_000
	log := benchLog(n, 10)
	for _, groups := range [][]string{{"payments"}, {"group-00002", "audit"}, {"group-00009", "x", ""}, benchGroups} {
		f := Filter{Commits: true, Groups: map[string]bool{}}
		for _, g := range groups {
			f.Groups[g] = true
		}
		short, long := newWalker(&f), newWalker(&f)
		if long.few = nil; short.few == nil {
			t.Fatalf("%v: no sieve", groups)
		}
		got, want := newFound(0), newFound(0)
		short.walk(log, 0, span{0, n, 0, n}, got)
		long.walk(log, 0, span{0, n, 0, n}, want)
		for _, i := range want.items {
			if !f.Groups[i.rec.Group] {
				t.Fatalf("%v: a record of %s", groups, i.rec.Group)
			}
		}
		if len(got.items) != len(want.items) || len(got.items) > 0 && !reflect.DeepEqual(got.items, want.items) || got.records != n || want.records != n {
			t.Errorf("%v: %d records handed on of %d, want %d of %d", groups, len(got.items), got.records, len(want.items), want.records)
		}
	}
	many := Filter{Groups: map[string]bool{}}
	for i := range 2 * fewGroups {
		many.Groups[string(rune('a'+i%26))+string(rune(i))] = true
	}
	if w := newWalker(&many); w.few != nil {
		t.Errorf("a sieve for %d groups", len(many.Groups))
	}
}
