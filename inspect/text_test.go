package inspect

import "testing"

// A lag of which a part could not be read is a lower bound, and says so.
func TestALagWithAGapIsAtLeast(t *testing.T) {
	n := func(n int64) *int64 { return &n }
	read := PartitionLag{Topic: "orders", Committed: n(10), End: n(1010), Lag: n(1000), MemberID: "a"}
	for name, c := range map[string]struct {
		other         PartitionLag
		group, member string
	}{
		"all read":            {PartitionLag{Topic: "orders", Partition: 1, Committed: n(5), End: n(5), Lag: n(0), MemberID: "a"}, "1,000", "1,000"},
		"no commit":           {PartitionLag{Topic: "orders", Partition: 1, End: n(5), MemberID: "a"}, "1,000", "1,000"},
		"a hidden topic":      {PartitionLag{Topic: "billing", Committed: n(5), MemberID: "a"}, "at least 1,000", ">=1,000"},
		"one of another's":    {PartitionLag{Topic: "billing", MemberID: "b"}, "at least 1,000", "1,000"},
		"a share group's own": {PartitionLag{Topic: "billing", Committed: n(5), Lag: n(0), MemberID: "a"}, "1,000", "1,000"},
	} {
		g := Group{Lag: n(1000), Offsets: []PartitionLag{read, c.other}, Members: []Member{{MemberID: "a", Lag: n(1000)}}}
		if group, member := g.LagText(), g.MemberLagText(&g.Members[0]); group != c.group || member != c.member {
			t.Errorf("%s: %s, %s, want %s, %s", name, group, member, c.group, c.member)
		}
	}
	if g := (Group{}); g.LagText() != "-" || g.MemberLagText(&Member{}) != "-" {
		t.Error("an unknown lag is not -")
	}
}
