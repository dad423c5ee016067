//go:build realkafka

package realtest

import (
	"fmt"
	"slices"
	"sort"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/kgdiag/kgdiag/inspect"
)

// describedCase is one group of TestDescribe and what only its clients know.
type describedCase struct {
	clients []client
	kind    inspect.GroupType
	family  inspect.Family
}

// TestDescribe holds describe to Apache's own tool, fact by fact, and to what the
// clients were started with, which that tool cannot tell.
func TestDescribe(t *testing.T) {
	c := shared(t)
	topic := name("describe")
	c.topic(topic, 6)
	c.produce(topic, 30)
	classic := func(k kind, id string) client {
		return client{Kind: k, ClientID: id, Session: 7000, Heartbeat: 2000, MaxPoll: 21000}
	}
	static := classic(javaClient, "pod")
	static.InstanceID = "pod-0"
	cases := map[string]describedCase{
		"franz-go":            {[]client{classic(franzGo, "a"), classic(franzGo, "b")}, inspect.Classic, ""},
		"kafka-python":        {[]client{classic(kafkaPython, "")}, inspect.Classic, inspect.KafkaPython},
		"librdkafka":          {[]client{classic(librdkafka, "w")}, inspect.Classic, inspect.Librdkafka},
		"java static":         {[]client{static}, inspect.Classic, ""},
		"librdkafka consumer": {[]client{{Kind: librdkafka, Protocol: "consumer", MaxPoll: 21000}}, inspect.Consumer, inspect.Librdkafka},
		"share":               {[]client{{Kind: shareClient}}, inspect.Share, inspect.Java},
	}
	for label, tc := range cases {
		t.Run(label, func(t *testing.T) {
			t.Parallel()
			group := name("describe")
			for i, spec := range tc.clients {
				spec.Group, spec.Topics = group, topic
				p := start(t, c.bootstrap, spec)
				if tc.kind != inspect.Share {
					p.assigned(6 / (i + 1))
				}
			}
			c := &cluster{t: t, bootstrap: c.bootstrap, home: c.home}
			g := c.described(t, group, len(tc.clients))
			if g.Type != tc.kind {
				t.Errorf("type %s, want %s", g.Type, tc.kind)
			}
			if tc.kind != inspect.Share {
				c.compareMembers(t, group)
				c.compareState(t, group)
				c.compareOffsets(t, group)
			}
			for i := range g.Members {
				m := &g.Members[i]
				if tc.family != "" && m.Client.Family != tc.family {
					t.Errorf("%s: guessed %s (%s)", m.ClientID, m.Client.Family, m.Client.Why)
				}
				if tc.kind == inspect.Share {
					continue
				}
				if want := 21 * time.Second; inspect.Or(m.Rebalance, 0) != want {
					t.Errorf("%s: rebalance timeout %v, want %s", m.ClientID, m.Rebalance, want)
				}
				if want := 7 * time.Second; tc.kind == inspect.Classic && inspect.Or(m.Session, 0) != want {
					t.Errorf("%s: session timeout %v, want %s", m.ClientID, m.Session, want)
				}
			}
			if tc.kind == inspect.Classic {
				if log := c.generations(group); g.Generation == nil || g.GenerationBasis != "record" || *g.Generation != log[len(log)-1] {
					t.Errorf("generation %v by %q, the log says %v", g.Generation, g.GenerationBasis, log)
				}
			}
		})
	}
}

// described waits until kgdiag describes the group Stable with n members that own
// partitions, without a gap but the one of share groups.
func (c *cluster) described(t *testing.T, group string, n int) *inspect.Group {
	t.Helper()
	var out *inspect.Group
	eventually(t, time.Minute, "a Stable group", func() error {
		var doc struct {
			Gaps   []inspect.Gap   `json:"gaps"`
			Groups []inspect.Group `json:"groups"`
		}
		r := kgdiag(t, "-b", c.bootstrap, "describe", group, "-o", "json")
		if r.code != 0 { // not there yet
			return fmt.Errorf("%s", r)
		}
		r.decode(t, &doc)
		g := &doc.Groups[0]
		if g.State != "Stable" || len(g.Members) != n || slices.ContainsFunc(g.Members, func(m inspect.Member) bool { return len(m.Assignment) == 0 }) {
			return fmt.Errorf("%s with %d members", g.State, len(g.Members))
		}
		for _, gap := range doc.Gaps {
			if g.Type != inspect.Share || gap.Fact != inspect.FactLag {
				return fmt.Errorf("gap %+v", gap)
			}
		}
		out = g
		return nil
	})
	return out
}

// apache runs Apache's consumer-groups and gives the rows of its table, by column.
func (c *cluster) apache(args ...string) []map[string]string {
	var rows []map[string]string
	var columns []string
	for _, line := range strings.Split(c.script(append([]string{"groups", "--describe"}, args...)...), "\n") {
		line = strings.ReplaceAll(line, "COORDINATOR (ID)", "COORDINATOR ID")
		f := strings.Fields(line)
		switch {
		case len(f) == 0:
		case f[0] == "GROUP":
			columns = f
		case columns != nil:
			row := map[string]string{}
			for i := range min(len(f), len(columns)) {
				row[columns[i]] = f[i]
			}
			rows = append(rows, row)
		}
	}
	return rows
}

// agree compares kgdiag's lines with Apache's until they are the same, since the
// group goes on working between the two.
func agree(t *testing.T, what string, both func() (ours, theirs []string)) {
	t.Helper()
	eventually(t, time.Minute, what, func() error {
		ours, theirs := both()
		sort.Strings(ours)
		sort.Strings(theirs)
		if len(theirs) == 0 || !slices.Equal(ours, theirs) {
			return fmt.Errorf("kgdiag\n%s\nApache\n%s", strings.Join(ours, "\n"), strings.Join(theirs, "\n"))
		}
		return nil
	})
}

func (c *cluster) compareMembers(t *testing.T, group string) {
	t.Helper()
	agree(t, "the same members", func() (ours, theirs []string) {
		for _, r := range c.apache("--group", group, "--members", "--verbose") {
			instance := r["GROUP-INSTANCE-ID"]
			if instance == "" {
				instance = "-"
			}
			theirs = append(theirs, strings.Join([]string{r["CONSUMER-ID"], instance, strings.TrimPrefix(r["HOST"], "/"), r["CLIENT-ID"],
				r["#PARTITIONS"], r["CURRENT-EPOCH"], r["CURRENT-ASSIGNMENT"]}, " "))
		}
		g := c.now(t, group)
		for i := range g.Members {
			m := &g.Members[i]
			instance, epoch, parts, count := "-", "-", []string{}, 0
			if m.InstanceID != nil {
				instance = *m.InstanceID
			}
			if m.Epoch != nil {
				epoch = strconv.Itoa(int(*m.Epoch))
			}
			for _, a := range m.Assignment {
				count += len(a.Partitions)
				parts = append(parts, a.Topic+":"+strings.ReplaceAll(strings.Trim(fmt.Sprint(a.Partitions), "[]"), " ", ","))
			}
			ours = append(ours, strings.Join([]string{m.MemberID, instance, m.Host, m.ClientID, strconv.Itoa(count), epoch, strings.Join(parts, ";")}, " "))
		}
		return ours, theirs
	})
}

func (c *cluster) compareState(t *testing.T, group string) {
	t.Helper()
	agree(t, "the same state", func() (ours, theirs []string) {
		for _, r := range c.apache("--group", group, "--state") {
			theirs = append(theirs, strings.Join([]string{r["COORDINATOR"], r["ID"], r["ASSIGNMENT-STRATEGY"], r["STATE"], r["#MEMBERS"]}, " "))
		}
		g := c.now(t, group)
		ours = append(ours, fmt.Sprintf("%s:%d (%d) %s %s %d", g.Coordinator.Host, g.Coordinator.Port, g.Coordinator.ID, g.Assignor, g.State, len(g.Members)))
		return ours, theirs
	})
}

// compareOffsets compares what does not move from one moment to the next: which
// partitions there are and who owns them; and that the offsets that move do so in
// the right order, kgdiag having looked first.
func (c *cluster) compareOffsets(t *testing.T, group string) {
	t.Helper()
	eventually(t, time.Minute, "the same offsets", func() error {
		g := c.now(t, group)
		rows := c.apache("--group", group, "--offsets")
		if len(rows) != len(g.Offsets) || len(rows) == 0 {
			return fmt.Errorf("%d partitions, Apache %d", len(g.Offsets), len(rows))
		}
		for _, o := range g.Offsets {
			i := slices.IndexFunc(rows, func(r map[string]string) bool {
				return r["TOPIC"] == o.Topic && r["PARTITION"] == strconv.Itoa(int(o.Partition))
			})
			if i < 0 || rows[i]["CONSUMER-ID"] != o.MemberID {
				return fmt.Errorf("partition %d: owner %s, Apache %v", o.Partition, o.MemberID, rows)
			}
			later := func(column string, ours *int64) error {
				theirs, err := strconv.ParseInt(rows[i][column], 10, 64)
				if ours == nil || err != nil || theirs < *ours || theirs > *ours+3000 {
					return fmt.Errorf("partition %d: %s %v, Apache a little later %s", o.Partition, column, ours, rows[i][column])
				}
				return nil
			}
			if err := later("CURRENT-OFFSET", o.Committed); err != nil {
				return err
			}
			if err := later("LOG-END-OFFSET", o.End); err != nil {
				return err
			}
			if o.Lag == nil || *o.Lag != *o.End-*o.Committed {
				return fmt.Errorf("partition %d: lag %v of %d and %d", o.Partition, o.Lag, *o.Committed, *o.End)
			}
		}
		return nil
	})
}

// now is the group as kgdiag describes it.
func (c *cluster) now(t *testing.T, group string) *inspect.Group {
	t.Helper()
	var doc struct {
		Groups []inspect.Group `json:"groups"`
	}
	kgdiag(t, "-b", c.bootstrap, "describe", group, "-o", "json").wants(t, 0).decode(t, &doc)
	return &doc.Groups[0]
}
