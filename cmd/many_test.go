package cmd

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/kgdiag/kgdiag/inspect"
)

// manyGroups are groups of four members with three partitions each, ten of which
// lost a member in the window.
func manyGroups(n int) *story {
	s := tell()
	for i := range n {
		id := fmt.Sprintf("team-%03d.service-%04d", i%97, i)
		var crew []player
		for j := range 4 {
			first := int32(3 * j)
			crew = append(crew, player{id: fmt.Sprintf("%s-%d-5a1c7e0e-1111-4222-8333-%012d", id, j, i), client: fmt.Sprintf("%s-%d", id, j),
				host: fmt.Sprintf("10.%d.%d.%d", i/250, i%250, j), parts: []int32{first, first + 1, first + 2}})
		}
		if i < 10 {
			fewer := append([]player{}, crew[:3]...)
			fewer[0].parts = []int32{0, 1, 2, 9, 10, 11}
			s.generation(id, -60, 8, crew...)
			s.commits(id, 9, -50, 1000, 500)
			s.commits(id, 0, -50, 3600, 500)
			s.generation(id, 1046, 9, fewer...)
			s.commits(id, 9, 1047, 3600, 900)
			crew = fewer
		}
		s.parts[id] = int32(i % 50)
		s.now(id, "Stable", 9, int32(i%3), 4, crew...)
		g := &s.c.Groups[len(s.c.Groups)-1]
		for j := range g.Members {
			m := &g.Members[j]
			for _, tp := range m.Assignment {
				for _, p := range tp.Partitions {
					n := int64(1000 + p)
					zero := int64(0)
					g.Offsets = append(g.Offsets, inspect.PartitionLag{Topic: tp.Topic, Partition: p, Committed: &n, Start: &zero, End: &n, Lag: &zero, MemberID: m.MemberID})
				}
			}
		}
	}
	return s
}

// TestManyGroupsHaveALineEach holds that a question about all groups is answered in a
// line or an entry a group, that one which rebalances has all that a stable one has, and
// that the members are there where they are asked for.
func TestManyGroupsHaveALineEach(t *testing.T) {
	const n = 60
	s := manyGroups(n)
	sick := &s.c.Groups[7]
	sick.State = "PreparingRebalance"
	for i := range sick.Members { // as a coordinator answers meanwhile
		sick.Members[i].Assignment, sick.Members[i].Topics = nil, nil
	}
	s.c.Gaps = append(s.c.Gaps, inspect.Gap{Group: sick.ID, Fact: inspect.FactTimeouts, What: "session and rebalance timeouts", Why: "1 of 3 members are in no record yet"})
	file := s.file(t)
	read := func(args ...string) string {
		t.Helper()
		out, errs, code := screenOf(append(args, "--from", file)...)
		if code != exitOK {
			t.Fatalf("%q: exit code %d: %s", args, code, errs)
		}
		return out
	}
	for _, c := range []struct {
		args  []string
		bytes int // a group; the rules that were not checked, once for all, grow with their number
	}{{[]string{"describe", "-o", "json"}, 800}, {[]string{"describe", "-o", "tsv"}, 120}, {[]string{"describe"}, 120}, {[]string{"why", "-o", "json"}, 1700}} {
		if got := len(read(c.args...)) / n; got > c.bytes {
			t.Errorf("%q: %d bytes a group, want %d at most", c.args, got, c.bytes)
		}
	}

	var doc struct {
		Detail string
		Groups []map[string]any
	}
	if err := json.Unmarshal([]byte(read("describe", "-o", "json")), &doc); err != nil || doc.Detail != "groups" || len(doc.Groups) != n {
		t.Fatalf("%v: detail %q of %d groups", err, doc.Detail, len(doc.Groups))
	}
	for key, value := range doc.Groups[6] {
		other, there := doc.Groups[7][key]
		if !there || value != nil && other == nil && key != "partitions" { // an assignment is not on any API meanwhile
			t.Errorf("%s: %v, and of the group that rebalances %v", key, value, other)
		}
	}
	if got := fmt.Sprint(doc.Groups[7]["not_read"]); !strings.Contains(got, "1 of 3 members are in no record yet") {
		t.Errorf("not read: %s", got)
	}
	if lines := strings.Split(read("describe"), "\n"); !strings.HasSuffix(lines[0], "60 groups: 59 Stable, 1 PreparingRebalance") || !strings.Contains(lines[2], "PreparingRebalance") {
		t.Errorf("the group that rebalances is not at the top:\n%s", strings.Join(lines[:4], "\n"))
	}
	if err := json.Unmarshal([]byte(read("describe", "-v", "-o", "json")), &doc); err != nil || doc.Detail != "members" || doc.Groups[7]["members"] == nil {
		t.Errorf("%v: -v shows no members: %v", err, doc.Groups[7])
	}
	if got := read("describe", sick.ID, "-o", "tsv"); strings.Count(got, "\n") != 4 || !strings.Contains(got, "in no record yet") {
		t.Errorf("the members of a group that was named:\n%s", got)
	}
}
