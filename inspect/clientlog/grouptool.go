package clientlog

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/kgdiag/kgdiag/inspect"
	"github.com/kgdiag/kgdiag/internal/pattern"
	"github.com/kgdiag/kgdiag/internal/prose"
)

// What kafka-consumer-groups.sh prints of a group: its partitions, or its members. People
// paste it as evidence, among log lines or alone.

// groupTable is an open table of that tool.
type groupTable struct {
	columns []string
	from    int // line of the head
	group   string
	quote   string // the row that the finding shows

	rows, unowned, behind int // partitions; without a consumer; of these with lag
	lag, unread, most     int64
	lags                  []partitionLag
	states, rebalancing   int // of the table of states
	members, idle, owned  int // of the table of members
}

// toolMarks are the heads by which a table is found.
var toolMarks = []string{"CURRENT-OFFSET", "#PARTITIONS", "ASSIGNMENT-STRATEGY", "Topic: __consumer_offsets", "Topic:__consumer_offsets"}

// openTable reports whether a line is the head of a table.
func (rd *reader) openTable(line []byte) bool {
	if !slices.ContainsFunc(toolMarks[:3], func(m string) bool { return bytes.Contains(line, []byte(m)) }) {
		return false
	}
	columns := strings.Fields(strings.ReplaceAll(string(line), ",", " "))
	if len(columns) < 4 || !strings.Contains(string(line), "CONSUMER-ID") && !strings.Contains(string(line), "#MEMBERS") {
		return false
	}
	rd.table = &groupTable{columns: columns, from: int(rd.sum.Lines)}
	rd.sum.Known++
	if rd.first == nil {
		rd.first = &inspect.LogEvent{Kind: inspect.LogNote, Text: quote(string(line)), From: inspect.Position{File: rd.name, Line: rd.table.from}}
	}
	return true
}

// row takes a line of the table; false where the table is over.
func (t *groupTable) row(line string) bool {
	fields := strings.Fields(line)
	if len(fields) < len(t.columns)-1 || strings.HasPrefix(line, "Warning") || strings.HasPrefix(line, "Consumer group") {
		return false
	}
	read := t.partition
	switch {
	case t.at("#PARTITIONS") >= 0:
		read = t.member
	case t.at("#MEMBERS") >= 0:
		read = t.state
	}
	if !read(line, fields) {
		return false
	}
	if t.columns[0] == "GROUP" {
		t.group = fields[0]
	}
	return true
}

func (t *groupTable) at(column string) int { return slices.Index(t.columns, column) }

// partition takes a row of the table of partitions. The names before CONSUMER-ID have no
// blanks; that one may have.
func (t *groupTable) partition(line string, fields []string) bool {
	topic, number, committed, end, lag, owner := t.at("TOPIC"), t.at("PARTITION"), t.at("CURRENT-OFFSET"), t.at("LOG-END-OFFSET"), t.at("LAG"), t.at("CONSUMER-ID")
	if min(topic, number, committed, end, lag, owner) < 0 || max(topic, number, committed, end, lag, owner) >= len(fields) {
		return false
	}
	if _, err := strconv.Atoi(fields[number]); err != nil {
		return fields[number] == "-"
	}
	t.rows++
	n, err := strconv.ParseInt(fields[lag], 10, 64)
	if err != nil && fields[committed] == "-" {
		n, _ = strconv.ParseInt(fields[end], 10, 64) // nothing committed: all of it
	}
	name := fields[topic] + "-" + fields[number]
	if fields[owner] == "-" {
		if t.unowned++; n > 0 {
			t.behind, t.unread = t.behind+1, t.unread+n
		}
	}
	if t.quote == "" || len(t.lags) > 0 && n > t.most {
		t.quote = line
	}
	t.most = max(t.most, n)
	t.lag += n
	t.lags = append(t.lags, partitionLag{name, n})
	return true
}

// partitionLag is the lag of one partition.
type partitionLag struct {
	name string
	lag  int64
}

// state takes a row of the table of states.
func (t *groupTable) state(line string, fields []string) bool {
	if _, err := strconv.Atoi(fields[len(fields)-1]); err != nil {
		return false
	}
	t.states++
	if strings.Contains(line, "Rebalanc") {
		t.rebalancing, t.quote = t.rebalancing+1, line
	}
	return true
}

// few is how many partitions have nearly all of the lag, and how many records; zero where
// the lag is spread.
func (t *groupTable) few() (partitions int, records int64) {
	slices.SortFunc(t.lags, func(a, b partitionLag) int { return cmp.Compare(b.lag, a.lag) })
	for i, p := range t.lags {
		if records += p.lag; i+1 > max(1, len(t.lags)/3) {
			return 0, 0
		}
		if records*10 >= t.lag*9 {
			return i + 1, records
		}
	}
	return 0, 0
}

var hostThenCount = pattern.New(`\s/\S+\s+\S.*?\s(\d+)(?:\s|$)`)

// member takes a row of the table of members.
func (t *groupTable) member(line string, _ []string) bool {
	m := hostThenCount.FindStringSubmatch(line)
	if m == nil {
		return false
	}
	n, _ := strconv.Atoi(m[1])
	if t.members++; n == 0 {
		if t.idle++; t.quote == "" {
			t.quote = line
		}
	}
	t.owned += n
	return true
}

// skewedFrom is the lag from which on one partition's share of it is worth a word.
const skewedFrom = 1000

// event is what a table says; false where it says nothing.
func (t *groupTable) event() (inspect.LogEvent, bool) {
	ev := inspect.LogEvent{Kind: inspect.LogError, Group: t.group}
	switch {
	case t.idle > 0 && t.owned < t.members:
		ev.Sign, ev.Reason = inspect.SignIdleFewPartitions, fmt.Sprintf("%d of %d members have none, and there are %d partitions", t.idle, t.members, t.owned)
	case t.idle > 0:
		ev.Sign, ev.Reason = inspect.SignIdleSpread, fmt.Sprintf("%d of %d members have none, and the others have %d", t.idle, t.members, t.owned)
	case t.rows > 0 && t.unowned == t.rows && t.unread > 0:
		ev.Sign, ev.Reason = inspect.SignNobodyReads, fmt.Sprintf("%d records in %s", t.unread, prose.Plural(t.behind, "partition"))
	case t.behind > 0:
		ev.Sign, ev.Reason = inspect.SignUnowned, fmt.Sprintf("%d of %d partitions, %d records", t.unowned, t.rows, t.unread)
	case t.rebalancing > 0:
		ev.Sign, ev.Kind = inspect.SignRebalancingSeen, inspect.LogRebalance
	case t.rows > 3 && t.lag >= skewedFrom:
		n, records := t.few()
		if n == 0 {
			return ev, false
		}
		ev.Sign, ev.Reason = inspect.SignOneLags, fmt.Sprintf("%d of %d records in %s of %d, %s", records, t.lag, prose.Plural(n, "partition"), t.rows, t.lags[0].name)
	default:
		return ev, false
	}
	ev.Text = quote(t.quote)
	return ev, true
}

// closeTable hands out what the open table says.
func (rd *reader) closeTable() error {
	t := rd.table
	if t == nil {
		return nil
	}
	rd.table = nil
	ev, ok := t.event()
	if !ok {
		return nil
	}
	ev.From = inspect.Position{File: rd.name, Line: t.from}
	return rd.emit(ev)
}

var (
	replication  = pattern.New(`ReplicationFactor:\s*(\d+)`)
	leastInSync  = pattern.New(`min\.insync\.replicas=(\d+)`)
	ofPartition  = pattern.New(`Partition:\s*(\d+)`)
	leaderless   = pattern.New(`Leader:\s*(?:none|-1)\b`)
	replicaLists = pattern.New(`Replicas:\s*([\d,]+)\s+Isr:\s*([\d,]*)`)
)

// offsetsTopic reads a line of kafka-topics.sh --describe that is about __consumer_offsets;
// false for other lines.
func (rd *reader) offsetsTopic(line string) (bool, error) {
	if !strings.Contains(line, "Topic: __consumer_offsets") && !strings.Contains(line, "Topic:__consumer_offsets") {
		return false, nil
	}
	rd.sum.Known++
	ev := inspect.LogEvent{Kind: inspect.LogError, From: inspect.Position{File: rd.name, Line: int(rd.sum.Lines)}, Text: quote(line)}
	if m := ofPartition.FindStringSubmatch(line); m != nil {
		ev.OffsetsPartition = int32Of(m[1])
	}
	if m := replication.FindStringSubmatch(line); m != nil {
		rd.replicas, _ = strconv.Atoi(m[1])
	}
	if m := leastInSync.FindStringSubmatch(line); m != nil {
		rd.leastInSync, _ = strconv.Atoi(m[1])
	}
	lists := replicaLists.FindStringSubmatch(line)
	switch {
	case leaderless.MatchString(line):
		ev.Sign = inspect.SignOffsetsLeaderless
	case ev.OffsetsPartition == nil && rd.replicas > 0 && rd.replicas < rd.leastInSync:
		ev.Sign, ev.Reason = inspect.SignOffsetsBelowMin, fmt.Sprintf("replication factor %d, min.insync.replicas %d", rd.replicas, rd.leastInSync)
	case lists != nil && replicaCount(lists[2]) < min(rd.leastInSync, replicaCount(lists[1])):
		ev.Sign, ev.Reason = inspect.SignOffsetsBelowMin, fmt.Sprintf("%d in sync, min.insync.replicas %d", replicaCount(lists[2]), rd.leastInSync)
	default:
		return true, nil
	}
	return true, rd.emit(ev)
}

// replicaCount is how many brokers a list names: "1,2".
func replicaCount(list string) int {
	if list == "" {
		return 0
	}
	return strings.Count(list, ",") + 1
}
