package show

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/kgdiag/kgdiag/inspect"
	"github.com/kgdiag/kgdiag/internal/prose"
	"github.com/kgdiag/kgdiag/internal/render"
	"github.com/kgdiag/kgdiag/internal/term"
)

// Options say how much of groups is shown, and how times are written.
type Options struct {
	Verbose bool
	When    func(inspect.Time) string
}

// Groups are a page a group, with its members.
func Groups(groups []inspect.Group, gaps []inspect.Gap, o Options) []render.Block {
	var out []render.Block
	own := map[string][]inspect.Gap{}
	for _, g := range gaps {
		own[g.Group] = append(own[g.Group], g)
	}
	for i := range groups {
		out = append(out, o.group(&groups[i], own[groups[i].ID], i > 0)...)
	}
	return out
}

// Overview is a group in one line: what is true of it as a whole, and of its members
// the number, the libraries and the range of their timeouts.
type Overview struct {
	Group           string             `json:"group"`
	Type            inspect.GroupType  `json:"type"`
	ProtocolType    string             `json:"protocol_type"`
	State           string             `json:"state"` // the broker's own word; "" unknown
	StateSince      inspect.Time       `json:"state_since"`
	Generation      *int32             `json:"generation"`
	GenerationBasis string             `json:"generation_basis"`
	Epoch           *int32             `json:"epoch"`
	TargetEpoch     *int32             `json:"target_epoch"`
	Assignor        string             `json:"assignor"`
	Coordinator     *inspect.BrokerRef `json:"coordinator"`
	Partition       int32              `json:"partition"`    // of __consumer_offsets; -1 unknown
	Members         *int               `json:"member_count"` // null unknown
	Assigned        *int               `json:"partitions"`   // that members are assigned; null unknown, as during a rebalance
	Clients         []string           `json:"clients"`      // libraries, as guessed
	Session         []inspect.Millis   `json:"session_ms"`   // shortest and longest; null unknown
	Rebalance       []inspect.Millis   `json:"rebalance_ms"` // likewise
	Lag             *int64             `json:"lag"`
	NotRead         []string           `json:"not_read"` // what of the group is not known, and why
}

// Overviews are groups in one line each, in their order.
func Overviews(groups []inspect.Group, gaps []inspect.Gap) []Overview {
	lacking := notRead(gaps)
	out := make([]Overview, len(groups))
	for i := range groups {
		g := &groups[i]
		o := Overview{Group: g.ID, Type: g.Type, ProtocolType: g.ProtocolType, State: g.State, StateSince: g.StateSince,
			Generation: g.Generation, GenerationBasis: g.GenerationBasis, Epoch: g.Epoch, TargetEpoch: g.TargetEpoch, Assignor: g.Assignor,
			Coordinator: g.Coordinator, Partition: g.Partition, Clients: []string{}, Lag: g.Lag, NotRead: append([]string{}, lacking[g.ID]...)}
		if g.State != "" {
			n := len(g.Members)
			o.Members = &n
		}
		o.addMembers(g.Members)
		out[i] = o
	}
	return out
}

func (o *Overview) addMembers(members []inspect.Member) {
	assigned, known := 0, o.Members != nil
	for i := range members {
		m := &members[i]
		if c := ClientName(m.Client); c != "" && !slices.Contains(o.Clients, c) {
			o.Clients = append(o.Clients, c)
		}
		o.Session, o.Rebalance = widen(o.Session, m.Session), widen(o.Rebalance, m.Rebalance)
		known = known && m.Assignment != nil
		for _, t := range m.Assignment {
			assigned += len(t.Partitions)
		}
	}
	slices.Sort(o.Clients)
	if known {
		o.Assigned = &assigned
	}
}

// widen makes a range hold another value too.
func widen(r []inspect.Millis, m *inspect.Millis) []inspect.Millis {
	switch {
	case m == nil:
		return r
	case r == nil:
		return []inspect.Millis{*m, *m}
	}
	return []inspect.Millis{min(r[0], *m), max(r[1], *m)}
}

// OverviewTable is a line a group, for people: first those that do no work.
func OverviewTable(groups []Overview) *render.Table {
	list := slices.Clone(groups)
	slices.SortStableFunc(list, func(a, b Overview) int { return stateRank(a.State) - stateRank(b.State) })
	names := []string{"~GROUP", "STATE", "TYPE", ">GEN", ">MEMBERS", "#PARTITIONS", ">LAG", ">COORDINATOR"}
	lacking := slices.ContainsFunc(list, func(o Overview) bool { return len(o.NotRead) > 0 })
	if lacking {
		names = append(names, "NOT READ")
	}
	t := &render.Table{Columns: render.Cols(names...)}
	for i := range list {
		o := &list[i]
		state := render.S(stateStyle(o.State), "%s", o.State)
		if o.State == "" {
			state = render.S(term.Bad, "unknown")
		}
		gen := number(o.Generation)
		switch {
		case o.Epoch != nil:
			gen = number(o.Epoch)
		case o.GenerationBasis == "lower_bound" && gen != "":
			gen = ">=" + gen
		}
		coordinator := ""
		if o.Coordinator != nil {
			coordinator = strconv.Itoa(int(o.Coordinator.ID))
		}
		row := []render.Span{render.P("%s", o.Group), state}
		row = append(row, render.Row(string(o.Type), gen, whole(o.Members), whole(o.Assigned), countOf(o.Lag), coordinator)...)
		if lacking {
			row = append(row, render.P("%s", strings.Join(o.NotRead, "; ")))
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// stateRank puts groups that do no work before those that do, and those without members last.
func stateRank(state string) int {
	switch state {
	case "Stable":
		return 1
	case "Empty":
		return 2
	}
	return 0
}

// OverviewTSV is a line a group, for programs.
func OverviewTSV(groups []inspect.Group, list []Overview) *render.Table {
	t := &render.Table{Columns: render.Cols(append(slices.Clone(groupColumns), "#MEMBERS", "#PARTITIONS", "LAG", "CLIENTS", "SESSION-MS", "REBALANCE-MS", "NOT-READ")...)}
	for i := range list {
		o := &list[i]
		t.Rows = append(t.Rows, append(groupCells(&groups[i]), render.Row(whole(o.Members), whole(o.Assigned), plain(o.Lag), strings.Join(o.Clients, ","),
			spread(o.Session), spread(o.Rebalance), strings.Join(o.NotRead, "; "))...))
	}
	return t
}

// States counts groups by state: "1,988 Stable, 12 Empty".
func States(list []Overview) string {
	n := map[string]int{}
	var words []string
	for i := range list {
		s := list[i].State
		if s == "" {
			s = "of unknown state"
		}
		if n[s]++; n[s] == 1 {
			words = append(words, s)
		}
	}
	slices.SortFunc(words, func(a, b string) int {
		if n[a] != n[b] {
			return n[b] - n[a]
		}
		return strings.Compare(a, b)
	})
	for i, w := range words {
		words[i] = prose.Count(int64(n[w])) + " " + w
	}
	return strings.Join(words, ", ")
}

// notRead is what is not known of each group, and why.
func notRead(gaps []inspect.Gap) map[string][]string {
	of := map[string][]inspect.Gap{}
	for _, g := range gaps {
		if g.Group != "" {
			of[g.Group] = append(of[g.Group], g)
		}
	}
	out := map[string][]string{}
	for id, list := range of {
		for _, r := range inspect.GapsByReason(list) {
			out[id] = append(out[id], fmt.Sprintf("%s: %s", strings.Join(r.What, ", "), r.Why))
		}
	}
	return out
}

// whole is a number, "" for nil.
func whole(n *int) string {
	if n == nil {
		return ""
	}
	return strconv.Itoa(*n)
}

// spread is a range of milliseconds, one number where both are the same.
func spread(r []inspect.Millis) string {
	switch {
	case r == nil:
		return ""
	case r[0] == r[1]:
		return wholeMillis(&r[0])
	}
	return wholeMillis(&r[0]) + "-" + wholeMillis(&r[1])
}
