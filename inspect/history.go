package inspect

import "slices"

// History is what a case tells of one group's past in the case's window.
type History struct {
	Group         string      `json:"group"`
	Type          GroupType   `json:"type"`
	CompleteSince Time        `json:"complete_since"`
	Summary       Summary     `json:"summary"`
	Rebalances    []Rebalance `json:"rebalances"`
	// Last is the newest rebalance before the window; null unknown.
	Last   *Rebalance `json:"last_before"`
	Spans  []Span     `json:"spans"`
	Pauses []Pause    `json:"pauses"`
	WhatIf *Replay    `json:"what_if,omitempty"`

	// Whole says that the log was read from its first record, and nothing is missing.
	Whole bool `json:"-"`
}

// HistoryOf is a group's history: of its rebalances those of these causes, where any
// are given, and with a replay of the window, where settings are.
func HistoryOf(c *Case, group string, causes []Cause, replay *Overrides) History {
	return HistoriesOf(c, []string{group}, causes, replay)[0]
}

// HistoriesOf are the histories of many groups.
func HistoriesOf(c *Case, groups []string, causes []Cause, replay *Overrides) []History {
	index, unread := c.Index(), map[string]bool{}
	for _, g := range c.Gaps {
		unread[g.Group] = unread[g.Group] || g.Fact == FactHistory
	}
	out := make([]History, 0, len(groups))
	for _, id := range groups {
		out = append(out, historyOf(c, index.Timeline(id), id, unread[""] || unread[id], causes, replay))
	}
	return out
}

func historyOf(c *Case, t *Timeline, group string, unread bool, causes []Cause, replay *Overrides) History {
	w := c.Window
	h := History{Group: group, Rebalances: w.Rebalances(t, causes...), Last: w.LastBefore(t), Spans: []Span{}, Pauses: []Pause{}}
	h.Summary = Summarise(h.Rebalances, w.Length())
	h.Summary.Unread = len(h.Rebalances) == 0 && unread
	if t == nil {
		return h
	}
	h.Type, h.CompleteSince, h.Whole = t.Type, t.CompleteSince, c.LogIsWhole(group)
	for _, s := range t.Spans {
		if s.To.After(w.From.Time) && s.From.Before(w.To.Time) {
			h.Spans = append(h.Spans, s)
		}
	}
	for _, p := range t.Pauses {
		if !p.To.Before(w.From.Time) && p.From.Before(w.To.Time) {
			h.Pauses = append(h.Pauses, p)
		}
	}
	if replay != nil {
		within := *t
		within.Rebalances, within.Pauses = h.Rebalances, h.Pauses
		r := WhatIf(within, *replay)
		h.WhatIf = &r
	}
	return h
}

// Troubled reports a rebalance that somebody has to do something about.
func (h *History) Troubled() bool {
	return slices.ContainsFunc(h.Rebalances, func(r Rebalance) bool { return r.Cause.Info().Acts })
}
