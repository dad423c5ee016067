package clientlog

import (
	"bytes"
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
	lag, unread           int64
	worst                 int64
	worstOf               string
	members, idle, owned  int // of the table of members
}

// toolMarks are the heads by which a table is found.
var toolMarks = []string{"CURRENT-OFFSET", "#PARTITIONS"}

// openTable reports whether a line is the head of a table.
func (rd *reader) openTable(line []byte) bool {
	if !slices.ContainsFunc(toolMarks, func(m string) bool { return bytes.Contains(line, []byte(m)) }) {
		return false
	}
	columns := strings.Fields(strings.ReplaceAll(string(line), ",", " "))
	if len(columns) < 4 || !strings.Contains(string(line), "CONSUMER-ID") {
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
	if t.at("#PARTITIONS") >= 0 {
		read = t.member
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
	if t.quote == "" || n > t.worst {
		t.quote = line
	}
	if t.lag += n; n > t.worst {
		t.worst, t.worstOf = n, name
	}
	return true
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
	case t.rows > 3 && t.lag >= skewedFrom && t.worst*10 >= t.lag*9:
		ev.Sign, ev.Reason = inspect.SignOneLags, fmt.Sprintf("%d of %d records in %s", t.worst, t.lag, t.worstOf)
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
