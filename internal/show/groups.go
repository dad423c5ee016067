package show

import (
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"

	"github.com/kgdiag/kgdiag/inspect"
	"github.com/kgdiag/kgdiag/inspect/assume"
	"github.com/kgdiag/kgdiag/internal/prose"
	"github.com/kgdiag/kgdiag/internal/render"
	"github.com/kgdiag/kgdiag/internal/term"
	"github.com/kgdiag/kgdiag/locate"
)

// group are the texts of one group, of which these are the gaps.
func (o Options) group(g *inspect.Group, gaps []inspect.Gap, apart bool) []render.Block {
	head := []render.Line{groupLine(g)}
	if apart {
		head = append([]render.Line{nil}, head...)
	}
	block := render.Block{Lines: head, NoTSV: true}
	switch {
	case len(g.Members) > 0:
		block.Table = o.membersTable(g)
	case g.State != "":
		block.Lines = append(block.Lines, render.L("no members"))
	}
	blocks := []render.Block{block}
	if o.Verbose && len(g.Offsets) > 0 {
		blocks = append(blocks, render.Block{Table: offsetsTable(g), NoTSV: true})
	}
	last := &blocks[len(blocks)-1]
	if o.Verbose {
		for _, l := range []render.Line{leaderLine(g), limitsLine(g)} {
			if l != nil {
				last.After = append(last.After, l)
			}
		}
	}
	last.After = append(last.After, o.sourceLines(g, gaps)...)
	if texts := assume.Of(g, nil); len(texts) > 0 {
		last.After = append(last.After, render.Line{render.S(term.Warn, "assumed"), render.P(":  %s; the members' own were not read", strings.Join(texts, ", "))})
	}
	return blocks
}

// groupLine is the head of one group: all that is true of it as a whole.
func groupLine(g *inspect.Group) render.Line {
	l := render.Line{render.S(term.Bold, "%s", g.ID)}
	add := func(format string, args ...any) { l = append(l, render.P("  "+format, args...)) }
	if g.State == "" {
		l = append(l, render.P("  "), render.S(term.Bad, "state unknown"))
	} else {
		l = append(l, render.P("  "), render.S(stateStyle(g.State), "%s", g.State))
	}
	if t := typeName(g); t != "" {
		add("%s", t)
	}
	if n := generationName(g); n != "" {
		add("%s", n)
	}
	if g.Assignor != "" {
		add("assignor %s", g.Assignor)
	}
	add("coordinator %s", Broker(g.Coordinator))
	if g.Partition >= 0 {
		add("partition %d", g.Partition)
	}
	add("lag %s", g.LagText())
	return l
}

// stateStyle underlines states in which a group does no work.
func stateStyle(state string) term.Style {
	switch state {
	case "Stable":
		return term.Good
	case "PreparingRebalance", "CompletingRebalance", "Assigning", "Reconciling", "NotReady":
		return term.Warn
	case "Dead":
		return term.Bad
	}
	return term.Plain
}

// typeName is the type, with the protocol type where that is not the usual one.
func typeName(g *inspect.Group) string {
	if g.Type == inspect.Classic && g.ProtocolType != "" && g.ProtocolType != "consumer" {
		return string(g.Type) + " " + g.ProtocolType
	}
	return string(g.Type)
}

// generationName is "generation 47", "generation 47 or later" where only a bound is
// known, "generation -" where nothing is, or the epochs of the newer protocols.
func generationName(g *inspect.Group) string {
	switch {
	case g.Epoch != nil && g.TargetEpoch != nil && *g.Epoch != *g.TargetEpoch:
		return fmt.Sprintf("epoch %d (assignment at %d)", *g.Epoch, *g.TargetEpoch)
	case g.Epoch != nil:
		return fmt.Sprintf("epoch %d", *g.Epoch)
	case g.Generation != nil && g.GenerationBasis == "lower_bound":
		return fmt.Sprintf("generation %d or later", *g.Generation)
	case g.Generation != nil:
		return fmt.Sprintf("generation %d", *g.Generation)
	case g.Type == inspect.Classic:
		return "generation -"
	}
	return ""
}

// Broker is a broker for people, "2 (kafka-2:9092)", or "-".
func Broker(b *inspect.BrokerRef) string {
	switch {
	case b == nil:
		return "-"
	case b.Host == "":
		return strconv.Itoa(int(b.ID))
	}
	return fmt.Sprintf("%d (%s)", b.ID, net.JoinHostPort(b.Host, strconv.Itoa(int(b.Port))))
}

// membersTable is one line a member.
func (o Options) membersTable(g *inspect.Group) *render.Table {
	epochs := g.Epoch != nil
	names := []string{"~CLIENT-ID", "~GROUP-INSTANCE-ID", "HOST", "CLIENT", ">SESSION", ">" + RebalanceColumn(g)}
	if epochs {
		names = append(names, ">EPOCH")
	}
	names = append(names, "#PARTITIONS", ">LAG", "CURRENT-ASSIGNMENT")
	target := epochs && slices.ContainsFunc(g.Members, inspect.Member.Moving)
	if target {
		names = append(names, "TARGET-ASSIGNMENT")
	}
	if o.Verbose {
		names = append(names, "SUBSCRIPTION", "RACK", "~CONSUMER-ID")
	}
	t := &render.Table{Columns: render.Cols(names...)}
	for i := range g.Members {
		m := &g.Members[i]
		row := render.Row(m.ClientID, optional(m.InstanceID), m.Host, ClientName(m.Client), Span(m.Session), Span(m.Rebalance))
		if epochs {
			row = append(row, render.P("%s", number(m.Epoch)))
		}
		row = append(row, render.Row(inspect.PartitionCount(m.Assignment), g.MemberLagText(m), inspect.AssignmentText(m.Assignment))...)
		if target {
			row = append(row, render.P("%s", inspect.AssignmentText(m.Target)))
		}
		if o.Verbose {
			row = append(row, render.Row(m.SubscriptionText(), m.Rack, m.MemberID)...)
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// RebalanceColumn names the rebalance timeout by the setting that it is, where all members
// are of libraries that send max.poll.interval.ms as such. One that joins just now has no
// timeout and no known library yet, and does not change the name.
func RebalanceColumn(g *inspect.Group) string {
	joins := func(m inspect.Member) bool { return m.Rebalance == nil }
	all := !slices.ContainsFunc(g.Members, func(m inspect.Member) bool { return !joins(m) })
	for _, m := range g.Members {
		if (all || !joins(m)) && (!m.Client.Family.PollInterval() || m.Client.Confidence == inspect.Low) {
			return "REBALANCE TIMEOUT"
		}
	}
	return "MAX POLL"
}

// MembersTSV is every member of every group in one table; a group without members
// keeps one line. NOT-READ is what of the group is not known, and why.
func MembersTSV(groups []inspect.Group, gaps []inspect.Gap) *render.Table {
	lacking := notRead(gaps)
	t := &render.Table{Columns: render.Cols(append(slices.Clone(groupColumns), "CLIENT-ID", "GROUP-INSTANCE-ID", "HOST", "CLIENT", "CLIENT-CONFIDENCE", "SESSION-MS", "REBALANCE-MS",
		"MEMBER-EPOCH", "#PARTITIONS", "LAG", "CURRENT-ASSIGNMENT", "SUBSCRIPTION", "CONSUMER-ID", "NOT-READ")...)}
	for i := range groups {
		g := &groups[i]
		head, reasons := groupCells(g), strings.Join(lacking[g.ID], "; ")
		if len(g.Members) == 0 {
			t.Rows = append(t.Rows, append(head, render.Row("", "", "", "", "", "", "", "", "", plain(g.Lag), "", "", "", reasons)...))
		}
		for j := range g.Members {
			m := &g.Members[j]
			t.Rows = append(t.Rows, append(slices.Clone(head), render.Row(m.ClientID, optional(m.InstanceID), m.Host, string(m.Client.Family),
				string(m.Client.Confidence), wholeMillis(m.Session), wholeMillis(m.Rebalance), number(m.Epoch), inspect.PartitionCount(m.Assignment),
				plain(m.Lag), inspect.AssignmentText(m.Assignment), m.SubscriptionText(), m.MemberID, reasons)...))
		}
	}
	return t
}

// groupColumns are the first columns of the tsv, whatever its lines are.
var groupColumns = []string{"GROUP", "TYPE", "STATE", "GENERATION", "GENERATION-BASIS", "EPOCH", "COORDINATOR", "PARTITION", "ASSIGNOR"}

// groupCells are what stands in them.
func groupCells(g *inspect.Group) []render.Span {
	coordinator, partition := "", ""
	if g.Coordinator != nil {
		coordinator = strconv.Itoa(int(g.Coordinator.ID))
	}
	if g.Partition >= 0 {
		partition = strconv.Itoa(int(g.Partition))
	}
	return render.Row(g.ID, string(g.Type), g.State, number(g.Generation), g.GenerationBasis, number(g.Epoch), coordinator, partition, g.Assignor)
}

// offsetsTable is one line a partition, in Apache's words.
func offsetsTable(g *inspect.Group) *render.Table {
	t := &render.Table{Columns: render.Cols("TOPIC", ">PARTITION", ">CURRENT-OFFSET", ">LOG-START-OFFSET", ">LOG-END-OFFSET", ">LAG", "CLIENT-ID", "CONSUMER-ID")}
	client := map[string]string{}
	for i := range g.Members {
		client[g.Members[i].MemberID] = g.Members[i].ClientID
	}
	for i := range g.Offsets {
		o := &g.Offsets[i]
		t.Rows = append(t.Rows, render.Row(o.Topic, strconv.Itoa(int(o.Partition)), countOf(o.Committed), countOf(o.Start), countOf(o.End),
			countOf(o.Lag), client[o.MemberID], o.MemberID))
	}
	return t
}

// leaderLine says which member computes the assignment of a classic group; nil where that
// is not known.
func leaderLine(g *inspect.Group) render.Line {
	for i := range g.Members {
		if m := &g.Members[i]; g.Leader != "" && m.MemberID == g.Leader {
			return render.L("group leader: %s at %s, whose client computes the assignment", m.ClientID, m.Host)
		}
	}
	return nil
}

// limitsLine says which timeouts the brokers allow; nil where that is not known.
func limitsLine(g *inspect.Group) render.Line {
	l := &g.Limits
	if l.From == "" {
		return nil
	}
	text := fmt.Sprintf("session timeout allowed: %s to %s", Span(l.SessionMin), Span(l.SessionMax))
	if l.Session != nil {
		text += fmt.Sprintf("; in force: session %s, heartbeat %s", Span(l.Session), Span(l.Heartbeat))
	}
	return render.L("%s (%s)", text, l.From)
}

// sourceLines say where the facts about a group come from, and which are missing.
func (opts Options) sourceLines(g *inspect.Group, gaps []inspect.Gap) []render.Line {
	type origin struct {
		from  string
		facts []string
		at    inspect.Time
	}
	var origins []*origin
	for _, s := range g.Sources {
		if !opts.Verbose && !headFacts[s.Fact] {
			continue
		}
		i := slices.IndexFunc(origins, func(o *origin) bool { return o.from == s.From })
		if i < 0 {
			origins, i = append(origins, &origin{from: s.From}), len(origins)
		}
		if n := factName(s.Fact); !slices.Contains(origins[i].facts, n) {
			origins[i].facts = append(origins[i].facts, n)
		}
		if s.At.After(origins[i].at.Time) {
			origins[i].at = s.At
		}
	}
	slices.SortStableFunc(origins, func(x, y *origin) int { return originRank(x.from) - originRank(y.from) })
	var parts []string
	for _, o := range origins {
		part := strings.Join(o.facts, ", ") + " from " + o.from
		if o.from == locate.OffsetsTopic { // the others are as old as this answer
			part += " (" + opts.When(o.at) + ")"
		}
		parts = append(parts, part)
	}
	missing := Gaps(gaps)
	if len(parts) == 0 {
		return missing
	}
	text := "read: " + strings.Join(parts, "; ")
	if len(missing) == 0 {
		text += "; nothing is missing"
	}
	l := render.Line{render.S(term.Dim, "%s", text)}
	return append([]render.Line{l}, missing...)
}

// originRank puts the log, whose age matters, before the coordinator, and that
// before the rest.
func originRank(from string) int {
	switch from {
	case locate.OffsetsTopic:
		return 0
	case "coordinator":
		return 1
	}
	return 2
}

// headFacts are those whose source is shown without -v: the ones that no describe
// request tells, or that everything else hangs on.
var headFacts = map[inspect.Fact]bool{inspect.FactState: true, inspect.FactMembers: true,
	inspect.FactGeneration: true, inspect.FactTimeouts: true}

// factName is a kind of fact in a reader's words.
func factName(f inspect.Fact) string {
	switch f {
	case inspect.FactBrokerConfig, inspect.FactGroupConfig:
		return "bounds"
	}
	return strings.ReplaceAll(string(f), "_", " ")
}

// Gaps are one line for each reason why things were not read.
func Gaps(gaps []inspect.Gap) []render.Line {
	var out []render.Line
	for _, r := range inspect.GapsByReason(gaps) {
		l := render.Line{render.S(term.Warn, "%s", r.Label), render.P(": %s: %s", strings.Join(r.What, "; "), r.Why)}
		if r.Needs != "" {
			l = append(l, render.P("; needs %s", r.Needs))
		}
		out = append(out, l)
	}
	return out
}

// ClientName is a guessed library with how sure that is: "java", "java (likely)",
// "java?", or "" for unknown.
func ClientName(c inspect.ClientGuess) string {
	switch {
	case c.Family == "" || c.Family == inspect.Unknown:
		return ""
	case c.Confidence == inspect.High:
		return string(c.Family)
	case c.Confidence == inspect.Medium:
		return string(c.Family) + " (likely)"
	}
	return string(c.Family) + "?"
}

// optional is the text behind a pointer, "" for nil.
func optional(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// number is a number, "" for nil.
func number(n *int32) string {
	if n == nil {
		return ""
	}
	return strconv.Itoa(int(*n))
}

// plain is a number without separators, "" for nil.
func plain(n *int64) string {
	if n == nil {
		return ""
	}
	return strconv.FormatInt(*n, 10)
}

// countOf is count for an optional number, "" for nil.
func countOf(n *int64) string {
	if n == nil {
		return ""
	}
	return prose.Count(*n)
}

// Span is a duration as a reader says it, "-" for nil.
func Span(m *inspect.Millis) string {
	if m == nil {
		return "-"
	}
	return prose.Span(m.Duration())
}

// wholeMillis is a duration in milliseconds, "" for nil.
func wholeMillis(m *inspect.Millis) string {
	if m == nil {
		return ""
	}
	return strconv.FormatInt(m.Duration().Milliseconds(), 10)
}
