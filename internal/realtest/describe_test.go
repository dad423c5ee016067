//go:build realkafka

package realtest

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
)

// described is what the tests read of kgdiag.describe/v1.
type described struct {
	Gaps []struct {
		What  string `json:"what"`
		Why   string `json:"why"`
		Needs string `json:"needs"`
	} `json:"gaps"`
	Groups []describedGroup `json:"groups"`
}

type describedGroup struct {
	Group       string `json:"group"`
	Type        string `json:"type"`
	State       string `json:"state"`
	Assignor    string `json:"assignor"`
	Generation  *int   `json:"generation"`
	Epoch       *int   `json:"epoch"`
	TargetEpoch *int   `json:"target_epoch"`
	Coordinator *struct {
		ID int `json:"id"`
	} `json:"coordinator"`
	Members []struct {
		MemberID   string         `json:"member_id"`
		InstanceID *string        `json:"instance_id"`
		ClientID   string         `json:"client_id"`
		Host       string         `json:"host"`
		Epoch      *int           `json:"member_epoch"`
		Session    *int           `json:"session_timeout_ms"`
		Rebalance  *int           `json:"rebalance_timeout_ms"`
		Client     map[string]any `json:"client"`
		Assignment []struct {
			Topic      string `json:"topic"`
			Partitions []int  `json:"partitions"`
		} `json:"assignment"`
	} `json:"members"`
	Offsets []struct {
		Topic     string `json:"topic"`
		Partition int    `json:"partition"`
		Committed *int   `json:"committed"`
		End       *int   `json:"log_end"`
		Lag       *int   `json:"lag"`
	} `json:"offsets"`
}

// table reads one of Apache's tables: rows by column name.
func table(text string) []map[string]string {
	var header []string
	var out []map[string]string
	for line := range strings.Lines(text) {
		f := strings.Fields(strings.ReplaceAll(line, "COORDINATOR (ID)", "COORDINATOR(ID)"))
		switch {
		case len(f) == 0:
		case f[0] == "GROUP":
			header = f
		default:
			if slices.Contains(header, "COORDINATOR(ID)") { // "host:port  (id)"
				f = slices.Concat(f[:1], []string{strings.Trim(f[2], "()")}, f[3:])
			}
			// Kafka 2.8 and 3.3 print nothing where a group has no assignor.
			if i := slices.Index(header, "STATE"); i > 0 && len(f) == len(header)-1 && header[i-1] == "ASSIGNMENT-STRATEGY" {
				f = slices.Insert(f, i-1, "-")
			}
			row := make(map[string]string)
			for i := range min(len(f), len(header)) {
				row[header[i]] = f[i]
			}
			out = append(out, row)
		}
	}
	return out
}

func number(n *int) string {
	if n == nil {
		return "-"
	}
	return strconv.Itoa(*n)
}

// TestDescribeSaysWhatApachesToolSays compares every field that both show, over classic,
// static, cooperative and KIP-848 groups of four client libraries, and an empty one.
func TestDescribeSaysWhatApachesToolSays(t *testing.T) {
	t.Parallel()
	c := shared(t)
	topic := name("describe")
	c.topic(topic, 6)
	ctx, cancel := context.WithTimeout(t.Context(), 4*patience) // a dozen clients start in between
	defer cancel()
	cl := c.client(kgo.DefaultProduceTopic(topic), kgo.RecordPartitioner(kgo.RoundRobinPartitioner()))
	for i := range 60 {
		if err := cl.ProduceSync(ctx, kgo.StringRecord(strconv.Itoa(i))).FirstErr(); err != nil {
			t.Fatal(err)
		}
	}
	var groups []string
	// The last two are of a type that older brokers do not serve.
	specs := slices.DeleteFunc([]client{
		{Kind: javaClient, Assignor: "range", Commit: "sync", InstanceID: "pod"},
		{Kind: librdkafka, Assignor: "roundrobin", Commit: "sync", Session: 9000, MaxPoll: 20000},
		{Kind: kafkaPython, Commit: "sync"},
		{Kind: franzGo, Commit: "sync", Session: 12000, MaxPoll: 33000},
		{Kind: javaClient, Protocol: "consumer", Commit: "sync"},
		{Kind: librdkafka, Protocol: "consumer", Commit: "sync", MaxPoll: 21000},
	}, func(spec client) bool { return !c.serves(spec.Protocol) })
	for _, spec := range specs {
		spec.Group, spec.Topics = name("describe-"+string(spec.Kind)), topic
		groups = append(groups, spec.Group)
		var members []*process
		static, count := spec.InstanceID, 2
		if spec.Kind == kafkaPython { // now and then it does not finish a join that another one interrupts
			count = 1
		}
		for i := range count {
			spec.ClientID = fmt.Sprintf("client-%d", i)
			if static != "" {
				spec.InstanceID = fmt.Sprintf("%s-%d", static, i)
			}
			if count == 1 {
				members = append(members, startAssigned(t, c.bootstrap, spec, 6))
				continue
			}
			members = append(members, start(t, c.bootstrap, spec))
		}
		// All joined side by side: each group has come to rest once both hold three.
		for _, m := range members {
			m.assigned(6 / count)
		}
	}
	empty := name("describe-empty")
	groups = append(groups, empty)
	var offsets kadm.Offsets
	offsets.AddOffset(topic, 0, 4, -1)
	eventually(t, patience, "a commit", func() error { return kadm.NewClient(cl).CommitAllOffsets(ctx, empty, offsets) })

	flags := []string{"groups", "--describe"}
	for _, g := range groups {
		flags = append(flags, "--group", g)
	}
	// Commits may still be on their way when the tools look: both must come to agree.
	eventually(t, patience, "kgdiag describe and Apache's tool agree", func() error {
		var got described
		kgdiag(t, append([]string{"describe", "-b", c.bootstrap, "-o", "json"}, groups...)...).wants(t, 0).decode(t, &got)
		if len(got.Gaps) > 0 {
			return fmt.Errorf("gaps %v", got.Gaps)
		}
		return cmp.Or(
			sameRows(rowsOfStates(got), table(c.script(append(flags, "--state", "--verbose")...))),
			sameRows(rowsOfMembers(got), table(c.script(append(flags, "--members", "--verbose")...))),
			sameRows(rowsOfOffsets(got), table(c.script(flags...))),
		)
	})

	// What Apache's tool does not show: the timeouts that the clients were given.
	var got described
	kgdiag(t, append([]string{"describe", "-b", c.bootstrap, "-o", "json"}, groups...)...).wants(t, 0).decode(t, &got)
	for i, want := range map[int][2]int{1: {9000, 20000}, 3: {12000, 33000}, 5: {45000, 21000}} {
		if i >= len(specs) {
			continue
		}
		for _, m := range got.Groups[i].Members {
			if number(m.Session) != strconv.Itoa(want[0]) || number(m.Rebalance) != strconv.Itoa(want[1]) {
				t.Errorf("%s, %s: session %s and rebalance timeout %s, want %v", got.Groups[i].Group, m.ClientID, number(m.Session), number(m.Rebalance), want)
			}
		}
	}
	for i, want := range map[int]string{1: "librdkafka", 2: "kafka-python", 5: "librdkafka"} {
		if i >= len(specs) {
			continue
		}
		for _, m := range got.Groups[i].Members {
			// A KIP-848 member has little but its id to go by: a low guess may be wrong.
			if m.Client["family"] != want && m.Client["confidence"] != "low" {
				t.Errorf("%s: guessed %v, want %s", got.Groups[i].Group, m.Client, want)
			}
		}
	}
	for _, g := range got.Groups[:len(specs)] {
		records := c.generations(g.Group)
		if g.Type == "classic" && (len(records) == 0 || number(g.Generation) != strconv.Itoa(int(records[len(records)-1]))) {
			t.Errorf("%s: generation %s, the records say %v", g.Group, number(g.Generation), records)
		}
	}
}

// Share groups have a tool of their own, and no offsets that could be compared.
func TestDescribeShareGroup(t *testing.T) {
	t.Parallel()
	c := shared(t)
	topic, group := name("share"), name("share")
	c.topic(topic, 3)
	start(t, c.bootstrap, client{Kind: shareClient, Group: group, Topics: topic, ClientID: "sharer"})
	eventually(t, patience, "kgdiag describe and Apache's tool agree", func() error {
		var got described
		r := kgdiag(t, "describe", "-b", c.bootstrap, "-o", "json", group)
		if r.code != 0 {
			return fmt.Errorf("%s", r)
		}
		r.decode(t, &got)
		if got.Groups[0].Type != "share" || len(got.Groups[0].Members) != 1 {
			return fmt.Errorf("type %s with %d members", got.Groups[0].Type, len(got.Groups[0].Members))
		}
		want := table(c.script("share-groups", "--describe", "--members", "--group", group))
		for _, row := range want {
			delete(row, "ASSIGNMENT") // written in a way of its own
		}
		return sameRows(rowsOfMembers(got), want)
	})
}

// TestShareGroupDepartures: who leaves a share group, by a close or a crash, is told as one
// rebalance: as a close who went sooner after it came than a session lasts, and else without
// a cause, since no record tells it.
func TestShareGroupDepartures(t *testing.T) {
	t.Parallel()
	c := shared(t)
	topic, group := name("share"), name("share")
	c.topic(topic, 3)
	start(t, c.bootstrap, client{Kind: shareClient, Group: group, Topics: topic, ClientID: "stays"})
	going := map[string]func(*process){"closes": (*process).term, "dies": func(p *process) { p.kill() }}
	told := func() string {
		var doc history
		r := kgdiag(t, "history", "-b", c.bootstrap, "-o", "json", group)
		if r.code != 0 {
			return r.String()
		}
		r.decode(t, &doc)
		var out []string
		for _, r := range doc.Groups[0].Rebalances {
			line := string(r.Cause)
			for _, m := range r.Members.Joined {
				line += " +" + m.ClientID
			}
			for _, m := range r.Members.Left {
				line += " -" + m.ClientID
			}
			out = append(out, line)
		}
		return strings.Join(out, ", ")
	}
	becomes := func(want string) {
		t.Helper()
		eventually(t, 2*time.Minute, "history says: "+want, func() error {
			if got := told(); got != want {
				return fmt.Errorf("%s", got)
			}
			return nil
		})
	}
	want := "member_joined +stays, topic_metadata_changed"
	becomes(want)
	for _, id := range []string{"closes", "dies"} {
		p := start(t, c.bootstrap, client{Kind: shareClient, Group: group, Topics: topic, ClientID: id})
		want += ", member_joined +" + id
		becomes(want)
		going[id](p)
		want += map[string]string{"closes": ", member_left -closes", "dies": ", unknown -dies"}[id]
		becomes(want)
	}
}

func rowsOfStates(d described) []map[string]string {
	var out []map[string]string
	for _, g := range d.Groups {
		row := map[string]string{"GROUP": g.Group, "STATE": g.State, "#MEMBERS": strconv.Itoa(len(g.Members)),
			"GROUP-EPOCH": number(g.Epoch), "TARGET-ASSIGNMENT-EPOCH": number(g.TargetEpoch), "ASSIGNMENT-STRATEGY": g.Assignor}
		if g.Coordinator != nil {
			row["COORDINATOR(ID)"] = strconv.Itoa(g.Coordinator.ID)
		}
		out = append(out, row)
	}
	return out
}

func rowsOfMembers(d described) []map[string]string {
	var out []map[string]string
	for _, g := range d.Groups {
		for _, m := range g.Members {
			n, list := 0, []string{}
			for _, a := range m.Assignment {
				n += len(a.Partitions)
				list = append(list, a.Topic+":"+strings.Trim(strings.Join(strings.Fields(fmt.Sprint(a.Partitions)), ","), "[]"))
			}
			row := map[string]string{"GROUP": g.Group, "CONSUMER-ID": m.MemberID, "HOST": "/" + m.Host, "CLIENT-ID": m.ClientID,
				"#PARTITIONS": strconv.Itoa(n), "CURRENT-ASSIGNMENT": strings.Join(list, ";"), "CURRENT-EPOCH": number(m.Epoch)}
			if m.InstanceID != nil {
				row["GROUP-INSTANCE-ID"] = *m.InstanceID
			}
			out = append(out, row)
		}
	}
	return out
}

func rowsOfOffsets(d described) []map[string]string {
	var out []map[string]string
	for _, g := range d.Groups {
		for _, o := range g.Offsets {
			out = append(out, map[string]string{"GROUP": g.Group, "TOPIC": o.Topic, "PARTITION": strconv.Itoa(o.Partition),
				"CURRENT-OFFSET": number(o.Committed), "LOG-END-OFFSET": number(o.End), "LAG": number(o.Lag)})
		}
	}
	return out
}

// sameRows compares the columns that both have. Apache's tool prints "-" where it has
// nothing to say, which any value of kgdiag's may fill.
func sameRows(got, want []map[string]string) error {
	byKey := func(rows []map[string]string) map[string]map[string]string {
		out := make(map[string]map[string]string)
		for _, r := range rows {
			out[strings.Join([]string{r["GROUP"], r["CONSUMER-ID"], r["TOPIC"], r["PARTITION"]}, " ")] = r
		}
		return out
	}
	// Apache prints the members' ids in its table of offsets as well.
	if len(want) > 0 && want[0]["PARTITION"] != "" {
		for _, r := range want {
			delete(r, "CONSUMER-ID")
		}
	}
	g, w := byKey(got), byKey(want)
	if len(w) == 0 {
		return fmt.Errorf("Apache's tool prints no rows")
	}
	for _, key := range slices.Sorted(maps.Keys(w)) {
		if g[key] == nil {
			return fmt.Errorf("%s: Apache's tool shows it, kgdiag does not", key)
		}
		for column, value := range w[key] {
			if mine, shown := g[key][column]; shown && value != "-" && mine != value {
				return fmt.Errorf("%s, %s: Apache's tool says %q, kgdiag %q", key, column, value, mine)
			}
		}
	}
	if len(g) != len(w) {
		return fmt.Errorf("Apache's tool shows %d rows, kgdiag %d", len(w), len(g))
	}
	return nil
}
