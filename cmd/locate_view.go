package cmd

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/kgdiag/kgdiag/inspect"
	"github.com/kgdiag/kgdiag/inspect/collect"
	"github.com/kgdiag/kgdiag/internal/prose"
	"github.com/kgdiag/kgdiag/internal/render"
	"github.com/kgdiag/kgdiag/internal/show"
	"github.com/kgdiag/kgdiag/internal/term"
	"github.com/kgdiag/kgdiag/locate"
)

// locateSchema is the schema of locate's JSON; fields are only added.
const locateSchema = "kgdiag.locate/v1"

// locateDoc is what -o json writes. Exactly one of Groups and TransactionalIDs is
// set.
type locateDoc struct {
	envelope
	Topic            string        `json:"topic"`
	Query            *locateQuery  `json:"query,omitempty"` // the inverse, and --if-down
	Partitions       []locateState `json:"partitions,omitempty"`
	Groups           []locateID    `json:"groups,omitempty"`
	TransactionalIDs []locateID    `json:"transactional_ids,omitempty"`
}

// locateQuery repeats what was asked besides ids.
type locateQuery struct {
	Partition *int32 `json:"partition,omitempty"`
	Broker    *int32 `json:"broker,omitempty"`
	IfDown    *int32 `json:"if_down,omitempty"`
}

// locateState is a partition of the topic, for the inverse.
type locateState struct {
	Partition int32   `json:"partition"`
	Leader    *int32  `json:"leader"` // null none
	Replicas  []int32 `json:"replicas"`
	ISR       []int32 `json:"isr"`
	locateFlags
	IfDown *locateIfDown `json:"if_down,omitempty"`
}

// locateFlags are the troubles of a partition.
type locateFlags struct {
	UnderReplicated bool `json:"under_replicated"`
	Offline         bool `json:"offline"`        // no living leader: no coordinator
	SingleReplica   bool `json:"single_replica"` // replication factor 1
}

// locateID is one id.
type locateID struct {
	Group           string             `json:"group,omitempty"`
	TransactionalID string             `json:"transactional_id,omitempty"`
	Type            string             `json:"type,omitempty"`  // where the brokers listed it
	State           string             `json:"state,omitempty"` // likewise
	Hash            int32              `json:"hash"`
	Partition       int32              `json:"partition"`
	Leader          *inspect.BrokerRef `json:"leader"`      // null offline, or none
	Coordinator     *inspect.BrokerRef `json:"coordinator"` // what the brokers answered; null where none did
	Replicas        []int32            `json:"replicas"`    // null offline
	ISR             []int32            `json:"isr"`
	locateFlags
	Agreement string         `json:"agreement"` // agrees | disagrees | unverified
	Reason    string         `json:"reason"`    // election | no_leader | partition_count | redpanda | not_authorised; "" none
	Why       string         `json:"why"`
	Answers   []locateAnswer `json:"answers"`
	IfDown    *locateIfDown  `json:"if_down,omitempty"`
}

// locateAnswer is one broker's answer.
type locateAnswer struct {
	Broker      *int32  `json:"broker"`      // null: a bootstrap address that no broker advertises
	Coordinator *int32  `json:"coordinator"` // null with an error
	Error       *string `json:"error"`
}

// locateIfDown is who takes over.
type locateIfDown struct {
	Broker      int32              `json:"broker"`
	Outcome     string             `json:"outcome"`     // moves | unchanged | no_leader
	Coordinator *inspect.BrokerRef `json:"coordinator"` // null with no_leader
	ISR         []int32            `json:"isr"`         // what is left of it
}

// runOffline does the arithmetic alone.
func (o *locateCmd) runOffline(ids []string) error {
	doc := locateDoc{envelope: o.envelopeOf(locateSchema, nil), Topic: o.topic()}
	t := &render.Table{Columns: render.Cols(o.idColumn(), "PARTITION", ">HASH")}
	var out []locateID
	for _, id := range ids {
		p, err := locate.Partition(id, o.count)
		if err != nil {
			return usagef("id %.40q %w", id, err)
		}
		d := locateID{Hash: locate.Hash(id), Partition: p, Agreement: string(collect.Unverified), Answers: []locateAnswer{}}
		o.name(&d, id)
		out = append(out, d)
		t.Rows = append(t.Rows, render.Row(id, fmt.Sprintf("%s-%d", o.topic(), p), strconv.Itoa(int(d.Hash))))
	}
	o.place(&doc, out)
	return o.show(render.View{Blocks: []render.Block{{Table: t}}, Data: doc})
}

// name puts the id where it belongs.
func (o *locateCmd) name(d *locateID, id string) {
	if o.transactional {
		d.TransactionalID = id
	} else {
		d.Group = id
	}
}

// place puts the ids where they belong, as an empty list where there are none.
func (o *locateCmd) place(doc *locateDoc, ids []locateID) {
	if ids == nil {
		ids = []locateID{}
	}
	if o.transactional {
		doc.TransactionalIDs = ids
	} else {
		doc.Groups = ids
	}
}

func (o *locateCmd) idColumn() string {
	if o.transactional {
		return "TRANSACTIONAL-ID"
	}
	return "GROUP"
}

// view is the whole result.
func (o *locateCmd) view(cluster inspect.Cluster, l *collect.Located) render.View {
	doc := locateDoc{envelope: o.envelopeOf(locateSchema, &inspect.Case{Cluster: cluster, Gaps: l.Gaps}), Topic: l.Topic.Topic, Partitions: o.states(l)}
	if q := (locateQuery{given(o.partition), given(o.broker), given(o.ifDown)}); q != (locateQuery{}) {
		doc.Query = &q
	}
	var ids []locateID
	for i := range l.Locations {
		ids = append(ids, o.document(l, &l.Locations[i]))
	}
	o.place(&doc, ids)

	main := render.Block{Lines: o.inverseLines(l), NoTSV: true}
	if len(l.Locations) > 0 {
		main.Table = o.table(l)
	}
	main.After = append(o.notes(l), gapLines(l.Gaps)...)
	if l.Listing != nil {
		main.After = append(main.After, o.answeredLine(l))
	}
	return render.View{Head: o.clusterLine(cluster, ""),
		Blocks: []render.Block{main, {TSVOnly: true, Table: o.tsv(ids)}}, Data: doc}
}

// document is one id for JSON.
func (o *locateCmd) document(l *collect.Located, loc *collect.Location) locateID {
	d := locateID{Hash: loc.Hash, Partition: loc.Partition, Leader: refOf(l.Topic, loc.State.Leader),
		Coordinator: refOf(l.Topic, loc.Coordinator), Replicas: loc.State.Replicas, ISR: loc.State.ISR,
		locateFlags: flagsOf(l.Topic, loc.State), Agreement: string(loc.Agreement), Reason: string(loc.Reason), Why: loc.Why,
		Answers: []locateAnswer{}, IfDown: o.ifDownOf(l, loc.State)}
	o.name(&d, loc.ID)
	if l.Listing != nil {
		d.Type, d.State = string(l.Listing.Groups[loc.ID].Type), l.Listing.Groups[loc.ID].State
	}
	for _, a := range loc.Answers {
		j := locateAnswer{Broker: given(a.Broker), Coordinator: given(a.Coordinator)}
		if a.Err != nil {
			text := a.Err.Error()
			j.Error = &text
		}
		d.Answers = append(d.Answers, j)
	}
	return d
}

// ifDownOf is the succession in a partition; nil without --if-down.
func (o *locateCmd) ifDownOf(l *collect.Located, p locate.PartitionState) *locateIfDown {
	if o.ifDown == unset {
		return nil
	}
	s := l.Topic.IfDown(p, o.ifDown)
	return &locateIfDown{Broker: s.Down, Outcome: string(s.Outcome), Coordinator: refOf(l.Topic, s.Leader), ISR: s.ISR}
}

// states are the partitions that an inverse is about.
func (o *locateCmd) states(l *collect.Located) []locateState {
	var which []int32
	switch {
	case o.partition != unset:
		which = []int32{o.partition}
	case o.broker != unset:
		which = o.partitionsOf(l, o.broker)
	}
	var out []locateState
	for _, i := range which {
		p := l.Topic.Partitions[i]
		out = append(out, locateState{Partition: p.Partition, Leader: given(p.Leader), Replicas: p.Replicas, ISR: p.ISR,
			locateFlags: flagsOf(l.Topic, p), IfDown: o.ifDownOf(l, p)})
	}
	return out
}

// partitionsOf are the partitions that a broker leads or, if it is down, would lead.
func (o *locateCmd) partitionsOf(l *collect.Located, broker int32) []int32 {
	if _, up := l.Topic.Broker(broker); up {
		return l.Topic.LedBy(broker)
	}
	return l.Topic.PreferredBy(broker)
}

// flagsOf are the troubles of a partition.
func flagsOf(d *locate.Description, p locate.PartitionState) locateFlags {
	return locateFlags{UnderReplicated: p.UnderReplicated(), Offline: !d.LeaderAlive(p), SingleReplica: p.Unreplicated()}
}

// refOf is a broker for JSON; nil for -1.
func refOf(d *locate.Description, id int32) *inspect.BrokerRef {
	if id < 0 {
		return nil
	}
	b, _ := d.Broker(id)
	return &inspect.BrokerRef{ID: id, Host: b.Host, Port: b.Port, Rack: b.Rack}
}

// joinIDs is 2,3,1.
func joinIDs(ids []int32) string {
	text := make([]string, len(ids))
	for i, id := range ids {
		text[i] = strconv.Itoa(int(id))
	}
	return strings.Join(text, ",")
}

// inverseLines say what an inverse is about, above its table.
func (o *locateCmd) inverseLines(l *collect.Located) []render.Line {
	switch {
	case o.partition != unset:
		p := l.Topic.Partitions[o.partition]
		line := render.Line{render.S(term.Bold, "%s-%d", l.Topic.Topic, p.Partition),
			render.P("  leader %s  replicas %s  ISR %s", show.Broker(refOf(l.Topic, p.Leader)), joinIDs(p.Replicas), joinIDs(p.ISR))}
		if down := o.ifDownOf(l, p); down != nil {
			line = append(line, render.P("  if %d goes: %s", down.Broker, ifDownCell(down).Text))
		}
		lines := []render.Line{line}
		if t := trouble(l.Topic, p); t != "" {
			lines = append(lines, render.Line{render.S(term.Warn, "%s", t)})
		}
		return append(lines, o.countLine(l, "in it"))
	case o.broker != unset:
		return o.brokerLines(l, o.broker)
	case o.ifDown != unset && l.Listing != nil && !o.sel.any():
		return o.brokerLines(l, o.ifDown)
	}
	return nil
}

// brokerLines say what a broker leads, or would.
func (o *locateCmd) brokerLines(l *collect.Located, id int32) []render.Line {
	parts := o.partitionsOf(l, id)
	list := ""
	if len(parts) > 0 {
		list = ": " + joinIDs(parts)
	}
	if b, up := l.Topic.Broker(id); up {
		return []render.Line{{render.S(term.Bold, "broker %s", show.Broker(&inspect.BrokerRef{ID: b.ID, Host: b.Host, Port: b.Port})),
			render.P(" leads %d of %d %s partitions%s", len(parts), len(l.Topic.Partitions), l.Topic.Topic, list)},
			o.countLine(l, "coordinated by it")}
	}
	return []render.Line{{render.S(term.Bad, "broker %d is down", id),
		render.P(": Metadata does not list it, and it leads no %s partition; preferred leader of %d%s", l.Topic.Topic, len(parts), list)},
		o.countLine(l, "in those partitions, now at the coordinators below")}
}

// countLine counts the ids of an inverse.
func (o *locateCmd) countLine(l *collect.Located, where string) render.Line {
	word := "group"
	if o.transactional {
		word = "transactional id"
	}
	if len(l.Locations) == 0 {
		return render.L("no %ss %s", word, where)
	}
	return render.L("%s %s", prose.Plural(len(l.Locations), word), where)
}

// answeredLine says how complete a list of ids is.
func (o *locateCmd) answeredLine(l *collect.Located) render.Line {
	total := len(l.Listing.Answered) + len(l.Listing.Failed)
	s := render.P("%d of %s listed their ids; ids that you may not DESCRIBE do not show up", len(l.Listing.Answered), prose.Plural(total, "broker"))
	if len(l.Listing.Failed) > 0 {
		s.Style = term.Warn
	} else {
		s.Style = term.Dim
	}
	return render.Line{s}
}

// table is the table for people.
func (o *locateCmd) table(l *collect.Located) *render.Table {
	columns := []string{o.idColumn(), "PARTITION", "COORDINATOR", "REPLICAS", "ISR", "AGREEMENT"}
	listed := l.Listing != nil
	if listed && !o.transactional {
		columns = slices.Insert(columns, 1, "TYPE", "STATE")
	}
	if listed && o.transactional {
		columns = slices.Insert(columns, 1, "STATE")
	}
	if o.flags.verbose {
		columns = append(columns, ">HASH")
	}
	if o.ifDown != unset {
		columns = append(columns, fmt.Sprintf("IF-%d-DOWN", o.ifDown))
	}
	t := &render.Table{Columns: render.Cols(columns...)}
	for i := range l.Locations {
		loc := &l.Locations[i]
		row := []render.Span{render.P("%s", loc.ID)}
		if listed && !o.transactional {
			row = append(row, render.P("%s", l.Listing.Groups[loc.ID].Type))
		}
		if listed {
			row = append(row, render.P("%s", l.Listing.Groups[loc.ID].State))
		}
		row = append(row, render.P("%s-%d", l.Topic.Topic, loc.Partition), render.P("%s", show.Broker(refOf(l.Topic, shownCoordinator(loc)))),
			render.P("%s", joinIDs(loc.State.Replicas)), render.P("%s", joinIDs(loc.State.ISR)), agreementCell(l.Topic, loc))
		if o.flags.verbose {
			row = append(row, render.P("%d", loc.Hash))
		}
		if down := o.ifDownOf(l, loc.State); down != nil {
			row = append(row, ifDownCell(down))
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// shownCoordinator is the broker for the COORDINATOR column: the brokers' answer or,
// where none answered, the leader, which the AGREEMENT column then calls unverified.
func shownCoordinator(loc *collect.Location) int32 {
	if loc.Agreement == collect.Unverified && loc.Reason != collect.ReasonRedpanda {
		return loc.State.Leader
	}
	return loc.Coordinator
}

// agreementCell is whether the brokers agree on an id, with the troubles of its partition.
func agreementCell(d *locate.Description, loc *collect.Location) render.Span {
	parts := []string{string(loc.Agreement)}
	style := term.Plain
	switch loc.Agreement {
	case collect.Disagrees:
		style = term.Bad
	case collect.Unverified:
		style = term.Warn
	}
	if t := trouble(d, loc.State); t != "" {
		parts, style = append(parts, t), max(style, term.Warn)
	}
	return render.S(style, "%s", strings.Join(parts, "; "))
}

// trouble is what is wrong with a partition; "" for nothing.
func trouble(d *locate.Description, p locate.PartitionState) string {
	var parts []string
	if !d.LeaderAlive(p) {
		parts = append(parts, "no leader, so no coordinator")
	}
	if p.Unreplicated() {
		parts = append(parts, "one replica only")
	}
	if out := p.OutOfISR(); len(out) > 0 {
		word := "broker "
		if len(out) > 1 {
			word = "brokers "
		}
		parts = append(parts, word+joinIDs(out)+" out of ISR")
	}
	return strings.Join(parts, "; ")
}

// ifDownCell says who takes over.
func ifDownCell(d *locateIfDown) render.Span {
	switch d.Outcome {
	case string(locate.Unchanged):
		return render.P("unchanged")
	case string(locate.NoLeader):
		return render.S(term.Bad, "nobody: no coordinator")
	}
	return render.P("%s", show.Broker(d.Coordinator))
}

// notes explain what the table cannot: who answered otherwise and why, one line a
// distinct reason, and with -v every answer.
func (o *locateCmd) notes(l *collect.Located) []render.Line {
	var out []render.Line
	said, disagree := map[string]bool{}, 0
	for i := range l.Locations {
		loc := &l.Locations[i]
		if loc.Agreement == collect.Disagrees {
			if disagree++; disagree > maxNotes && !o.flags.verbose {
				continue
			}
			text := fmt.Sprintf("the partition's leader is %s, but %s", brokerWord(loc.State.Leader), answersText(loc.Answers))
			if loc.Why != "" {
				text += ": " + loc.Why
			}
			out = append(out, render.Line{render.S(term.Bad, "%s: %s", loc.ID, text)})
		} else if loc.Why != "" && !said[loc.Why] && loc.Reason != collect.ReasonDenied {
			said[loc.Why] = true
			out = append(out, render.L("%s: %s", loc.ID, loc.Why))
		}
		if o.flags.verbose {
			out = append(out, answerLines(loc)...)
		}
	}
	if more := disagree - maxNotes; more > 0 && !o.flags.verbose {
		out = append(out, render.L("and %s more disagree; -v shows the answers about each", prose.Count(int64(more))))
	}
	return out
}

// maxNotes is how many disagreements are told in full without -v.
const maxNotes = 10

// brokerWord is a broker in a sentence.
func brokerWord(id int32) string {
	if id < 0 {
		return "nobody"
	}
	return "broker " + strconv.Itoa(int(id))
}

// answersText groups brokers by their answer: "brokers 1,2 answer 3, broker 3 answers 1".
func answersText(answers []collect.Answer) string {
	by := map[int32][]string{}
	var order []int32
	for _, a := range answers {
		if a.Err != nil {
			continue
		}
		if by[a.Coordinator] == nil {
			order = append(order, a.Coordinator)
		}
		name := strconv.Itoa(int(a.Broker))
		if a.Broker < 0 {
			name = "bootstrap"
		}
		by[a.Coordinator] = append(by[a.Coordinator], name)
	}
	var parts []string
	for _, c := range order {
		word, verb := "broker", "answers"
		if len(by[c]) > 1 {
			word, verb = "brokers", "answer"
		}
		parts = append(parts, fmt.Sprintf("%s %s %s %d", word, strings.Join(by[c], ","), verb, c))
	}
	return strings.Join(parts, ", ")
}

// answerLines are all answers about one id, for -v.
func answerLines(loc *collect.Location) []render.Line {
	var out []render.Line
	if text := answersText(loc.Answers); text != "" && loc.Agreement != collect.Disagrees {
		out = append(out, render.L("%s: %s", loc.ID, text))
	}
	for _, a := range loc.Answers {
		if a.Err != nil {
			from := brokerWord(a.Broker)
			if a.Broker < 0 {
				from = "the bootstrap broker"
			}
			out = append(out, render.L("%s: asked %s: %s", loc.ID, from, a.Err))
		}
	}
	return out
}

// tsv is the table for programs: one value a cell.
func (o *locateCmd) tsv(ids []locateID) *render.Table {
	columns := []string{o.idColumn(), "HASH", "PARTITION", "LEADER", "COORDINATOR", "HOST", "PORT", "REPLICAS", "ISR", "AGREEMENT", "REASON"}
	if o.ifDown != unset {
		columns = append(columns, "IF-DOWN", "IF-DOWN-COORDINATOR")
	}
	t := &render.Table{Columns: render.Cols(columns...)}
	for _, d := range ids {
		row := []string{d.Group + d.TransactionalID, strconv.Itoa(int(d.Hash)), strconv.Itoa(int(d.Partition))}
		row = append(row, idCell(d.Leader), idCell(d.Coordinator))
		host, port := "", ""
		if d.Coordinator != nil && d.Coordinator.Host != "" {
			host, port = d.Coordinator.Host, strconv.Itoa(int(d.Coordinator.Port))
		}
		row = append(row, host, port, joinIDs(d.Replicas), joinIDs(d.ISR), d.Agreement, d.Reason)
		if d.IfDown != nil {
			row = append(row, d.IfDown.Outcome, idCell(d.IfDown.Coordinator))
		}
		t.Rows = append(t.Rows, render.Row(row...))
	}
	return t
}

// idCell is a broker's id; "" for none.
func idCell(b *inspect.BrokerRef) string {
	if b == nil {
		return ""
	}
	return strconv.Itoa(int(b.ID))
}
