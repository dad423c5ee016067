package clientconf

import (
	"slices"
	"strings"

	"github.com/kgdiag/kgdiag/inspect"
	"github.com/kgdiag/kgdiag/internal/pattern"
)

// What a program does in an order that a consumer does not take: a seek before there is an
// assignment, one poll and no more, a subscription that drops its callback, and nothing
// that commits.

var (
	givesCallback = pattern.New(`\bon_(?:assign|revoke|lost)\s*=|\blistener\s*=|Listener\b|,\s*new\s`)
	seeks         = set("seek", "Seek")
	pollsOnce     = set("poll", "Poll", "consume", "Consume", "ReadMessage")
	manualCommit  = pattern.New(`(?i)enable[._]?auto[._]?commit["'\x60]?\]?\s*(?:=>|=|:|,)\s*["'\x60]?false`)
	commitsAtAll  = pattern.New(`(?i)\b(?:commit\w*|store_?offset\w*|sendOffsetsToTransaction|acknowledge|ack)\s*\(`)
)

// order tells of calls that come too early, too seldom, or not at all.
func (a *acting) order() {
	a.seeksEarly()
	a.polledOnce()
	a.callbackDropped()
	a.neverCommits()
}

// seeksEarly tells of a seek that follows subscribe() with no poll between: nothing is
// assigned yet.
func (a *acting) seeksEarly() {
	for _, s := range a.methods(subscribes) {
		for _, c := range a.methods(seeks) {
			if c.receiver != s.receiver || c.at < s.end || a.insideCallback(c.at) || !a.together(s.at, c.at) {
				continue
			}
			m, ok := ofConsumer(c, a.made)
			between := slices.ContainsFunc(slices.Concat(a.methods(pollings), a.methods(assigns), a.methods(set("assignment", "Assignment"))), func(p call) bool { return p.at > s.end && p.at < c.at })
			if ok && !between {
				act, other := a.act(inspect.ActSeekEarly, c, m), a.position(s.at)
				act.Other = &other
				a.add(act)
				return
			}
		}
	}
}

// polledOnce tells of a consumer that subscribes and is polled once, outside of any loop.
func (a *acting) polledOnce() {
	switch a.ext {
	case ".js", ".ts", ".mjs", ".tsx":
		return // consume() without arguments goes on by itself
	}
	polls := a.methods(pollings)
	if slices.ContainsFunc(a.out, func(o inspect.Act) bool { return o.Kind == inspect.ActMadeOften }) {
		return // that is what is wrong with it
	}
	if len(a.regions) > 0 || len(polls) != 1 || !pollsOnce[polls[0].method] {
		return
	}
	p := polls[0]
	m, ok := ofConsumer(p, a.made)
	if _, loops := a.loopAt(p.at); !ok || loops || a.insideCallback(p.at) || handOff.MatchString(a.bare) {
		return
	}
	for _, s := range a.methods(subscribes) {
		if s.receiver == p.receiver && s.at < p.at && a.together(s.at, p.at) {
			a.add(a.act(inspect.ActPolledOnce, p, m))
			return
		}
	}
}

// callbackDropped tells of a second subscribe() for the same topics that has no callback,
// so that the one of the first is gone.
func (a *acting) callbackDropped() {
	calls := a.methods(subscribes)
	for i, first := range calls {
		for _, later := range calls[i+1:] {
			if first.receiver == later.receiver && givesCallback.MatchString(first.args) && !givesCallback.MatchString(later.args) && later.at > first.end && a.together(first.at, later.at) {
				m, _ := ofConsumer(later, a.made)
				act, other := a.act(inspect.ActCallbackDropped, later, m), a.position(first.at)
				act.Other = &other
				a.add(act)
				return
			}
		}
	}
}

// neverCommits tells of a consumer that polls, commits nothing by itself, and of which the
// text commits nothing either.
func (a *acting) neverCommits() {
	off := manualCommit.FindStringIndex(a.code)
	if off == nil || len(a.made) != 1 || commitsAtAll.MatchString(a.bare) || !slices.ContainsFunc(a.methods(subscribes), func(call) bool { return true }) && !a.namesTopics() {
		return
	}
	m := a.made[0]
	a.add(inspect.Act{Kind: inspect.ActNeverCommits, Where: a.position(off[0]), Call: strings.TrimSpace(a.code[off[0]:off[1]]), Consumer: m.name, Group: m.group})
}
