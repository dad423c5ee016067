//go:build realkafka

package realtest

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/twmb/franz-go/pkg/kadm"

	"github.com/kgdiag/kgdiag/inspect/settings"
)

// compatFile is where what is found of the brokers is kept for docs/compatibility.md, if
// scripts/compat asks for it.
const compatFile = "KGDIAG_TEST_COMPAT"

var compatMu sync.Mutex

// keepCompat enters something into the file of scripts/compat, if there is one.
func keepCompat(t *testing.T, enter func(*Kafka)) {
	t.Helper()
	file := os.Getenv(compatFile)
	if file == "" {
		return
	}
	compatMu.Lock()
	defer compatMu.Unlock()
	var k Kafka
	if text, err := os.ReadFile(file); err == nil {
		if err := json.Unmarshal(text, &k); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
	}
	enter(&k)
	text, err := json.MarshalIndent(k, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, append(text, '\n'), 0o600); err != nil {
		t.Fatal(err)
	}
}

// serves reports whether the brokers serve groups of the type for good;
// "" is a classic one. In 3.x those of type consumer are a preview that librdkafka does not
// join and that takes no group configuration.
func (c *cluster) serves(groupType string) bool {
	since := map[string]string{"consumer": "4.0", "share": "4.1", "streams": "4.1"}[groupType]
	return since == "" || settings.AtLeast(c.version(), since)
}

// answer is what the test reads of any document.
type answer struct {
	Gaps []struct {
		What string `json:"what"`
		Why  string `json:"why"`
	} `json:"gaps"`
}

// gaps are the gaps of a document, in words.
func (r result) gaps(t *testing.T, into any) []string {
	t.Helper()
	var a answer
	r.decode(t, &a)
	r.decode(t, into)
	var out []string
	for _, g := range a.Gaps {
		out = append(out, g.What+": "+g.Why)
	}
	return out
}

// kindOfGroup is a type of group with a client that makes one.
type kindOfGroup struct {
	groupType string
	client    client
}

// kindsOfGroup are all types of which the brokers can be asked.
func kindsOfGroup() []kindOfGroup {
	return []kindOfGroup{
		{"classic", client{Kind: franzGo, Assignor: "range", Commit: "sync", Session: 6000, Heartbeat: 2000, MaxPoll: 15000}},
		{"consumer", client{Kind: librdkafka, Protocol: "consumer", Commit: "sync", MaxPoll: 15000}},
		{"share", client{Kind: shareClient}},
		{"streams", client{Kind: streams, Protocol: "streams", Plain: true}},
	}
}

// TestCompatibility asks every command for a group of each type that the brokers serve,
// while a member joins and leaves, and holds them to showing it.
func TestCompatibility(t *testing.T) {
	c := shared(t)
	keepCompat(t, func(k *Kafka) {
		k.Version, k.Brokers = c.version(), len(strings.Split(c.bootstrap, ","))
	})
	for _, kind := range kindsOfGroup() {
		if !c.serves(kind.groupType) {
			continue
		}
		t.Run(kind.groupType, func(t *testing.T) {
			t.Parallel()
			c := shared(t)
			look(t, c, kind)
		})
	}
	t.Run("empty", func(t *testing.T) {
		t.Parallel()
		c := shared(t)
		topic, group := name("compat"), name("compat-empty")
		c.topic(topic, 4)
		var offsets kadm.Offsets
		offsets.AddOffset(topic, 0, 4, -1)
		eventually(t, patience, "a commit", func() error { return kadm.NewClient(c.client()).CommitAllOffsets(t.Context(), group, offsets) })
		s := Sight{Kind: "empty", Client: "commits alone", Missing: map[string][]string{}}
		s.Missing["locate"] = locates(t, c, group)
		var doc described
		s.Missing["describe"] = kgdiag(t, "describe", "-b", c.bootstrap, "-o", "json", group).wants(t, 0).gaps(t, &doc)
		if g := doc.Groups[0]; g.State != "Empty" || len(g.Offsets) != 1 || number(g.Offsets[0].Committed) != "4" {
			t.Errorf("describe: state %s with offsets %v, want Empty with 4", g.State, g.Offsets)
		}
		keepCompat(t, func(k *Kafka) { k.Groups = append(k.Groups, s) })
	})
}

// look asks all commands for a group of one kind.
func look(t *testing.T, c *cluster, kind kindOfGroup) {
	topic, group := name("compat"), name("compat-"+kind.groupType)
	c.topic(topic, 4)
	c.produce(topic, 16)
	spec := kind.client
	spec.Group, spec.Topics, spec.ClientID = group, topic, "stays"
	if spec.Kind == streams {
		spec.StateDir = t.TempDir()
	}
	start(t, c.bootstrap, spec)
	s := Sight{Kind: kind.groupType, Client: string(spec.Kind), Missing: map[string][]string{}}
	memberOf(t, c, group, kind.groupType)
	s.Missing["locate"] = locates(t, c, group)
	w := watch(t, "-b", c.bootstrap, group)
	spec.ClientID = "leaves"
	if spec.Kind == streams {
		spec.StateDir = t.TempDir()
	}
	leaves := start(t, c.bootstrap, spec)
	visitor := spec.ClientID
	if spec.Kind == streams { // it names its threads' consumers itself
		visitor += "-StreamThread-1-consumer"
	}
	w.awaitMember("joined", visitor)
	s.Missing["describe"] = describes(t, c, group, kind.groupType)
	leaves.term()
	w.awaitMember("left", visitor)
	s.Missing["watch"] = nil
	s.Missing["history"] = remembers(t, group, visitor, "-b", c.bootstrap)
	file := filepath.Join(t.TempDir(), "group.kgcase")
	kgdiag(t, "record", "-b", c.bootstrap, "--to", file, group).wants(t, 0)
	s.Missing["record"] = remembers(t, group, visitor, "--from", file)
	for _, command := range []string{"why", "advise"} {
		var doc answer
		r := kgdiag(t, command, "-b", c.bootstrap, "-o", "json", group)
		if r.code > 1 { // 1 is a finding
			t.Errorf("%s", r)
		}
		s.Missing[command] = r.gaps(t, &doc)
	}
	keepCompat(t, func(k *Kafka) { k.Groups = append(k.Groups, s) })
	for command, missing := range s.Missing {
		for _, m := range missing {
			t.Logf("%s, %s: %s", kind.groupType, command, m)
		}
	}
}

// memberOf waits until the group has a member that holds partitions.
func memberOf(t *testing.T, c *cluster, group, groupType string) {
	t.Helper()
	eventually(t, patience, "a member with partitions", func() error {
		var doc described
		r := kgdiag(t, "describe", "-b", c.bootstrap, "-o", "json", group)
		if r.code != 0 {
			return fmt.Errorf("%s", r)
		}
		r.decode(t, &doc)
		if g := doc.Groups[0]; g.Type != groupType || len(g.Members) == 0 || len(g.Members[0].Assignment) == 0 {
			return fmt.Errorf("%s", r.stdout)
		}
		return nil
	})
}

// locates holds locate to the broker's own answer.
func locates(t *testing.T, c *cluster, group string) []string {
	t.Helper()
	var doc located
	gaps := kgdiag(t, "locate", "-b", c.bootstrap, "-o", "json", group).wants(t, 0).gaps(t, &doc)
	if g := doc.Groups[0]; g.Agreement != "agrees" || g.Coordinator == nil || g.Coordinator.ID != c.coordinator(group) {
		t.Errorf("locate: coordinator %v, agreement %q", g.Coordinator, g.Agreement)
	}
	return gaps
}

// describes is what describe does not show of a group of two members.
func describes(t *testing.T, c *cluster, group, groupType string) []string {
	t.Helper()
	var doc described
	var gaps []string
	eventually(t, patience, "two members", func() error {
		r := kgdiag(t, "describe", "-b", c.bootstrap, "-o", "json", group).wants(t, 0)
		gaps = r.gaps(t, &doc)
		if n := len(doc.Groups[0].Members); n != 2 {
			return fmt.Errorf("%d members", n)
		}
		return nil
	})
	g := doc.Groups[0]
	lacks := func(what string, ok bool) {
		if !ok {
			gaps = append(gaps, what+" not shown")
		}
	}
	if g.Type != groupType {
		t.Errorf("describe: type %s, want %s", g.Type, groupType)
	}
	lacks("generation or epoch", g.Generation != nil || g.Epoch != nil)
	// A share group has neither: what it has instead of lag is a gap that describe names, and nobody waits for its members to give partitions up.
	share := groupType == "share"
	lacks("lag", share || len(g.Offsets) > 0 && g.Offsets[0].Lag != nil)
	for _, m := range g.Members {
		lacks("host and client id of the members", m.Host != "" && m.ClientID != "")
		lacks("session timeout of the members", m.Session != nil)
		lacks("rebalance timeout of the members", share || m.Rebalance != nil)
	}
	slices.Sort(gaps)
	return slices.Compact(gaps)
}

// remembers is what history does not show of a join and a leave.
func remembers(t *testing.T, group, visitor string, from ...string) []string {
	t.Helper()
	var doc history
	var gaps []string
	eventually(t, patience, "history has the leave", func() error {
		r := kgdiag(t, append([]string{"history", "-o", "json", group}, from...)...).wants(t, 0)
		gaps = r.gaps(t, &doc)
		for _, g := range doc.Groups {
			for _, rb := range g.Rebalances {
				for _, d := range rb.Members.Left {
					if d.ClientID == visitor {
						return nil
					}
				}
			}
		}
		if from[0] == "--from" {
			t.Fatalf("the case does not have what the log had:\n%s", r)
		}
		return fmt.Errorf("not there:\n%s", r)
	})
	return gaps
}
