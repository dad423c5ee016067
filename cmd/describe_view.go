package cmd

import (
	"github.com/kgdiag/kgdiag/inspect"
	"github.com/kgdiag/kgdiag/inspect/watch"
	"github.com/kgdiag/kgdiag/internal/prose"
	"github.com/kgdiag/kgdiag/internal/render"
	"github.com/kgdiag/kgdiag/internal/show"
)

// describeDoc is the document kgdiag.describe/v1. Groups are of inspect.Group, or
// show.Overview where Detail is "groups".
type describeDoc struct {
	envelope
	Detail  string           `json:"detail"` // members | groups
	Groups  any              `json:"groups"`
	Brokers []inspect.Broker `json:"brokers"`
	Topics  []inspect.Topic  `json:"topics"`
}

// view shows a Case that holds groups as they are now: those that were named with their
// members, and of many that were not one line each, but for -v.
func (d *describeCmd) view(c *inspect.Case, named bool) render.View {
	doc := describeDoc{envelope: d.envelopeOf("kgdiag.describe/v1", c), Detail: "members", Groups: c.Groups, Brokers: c.Brokers, Topics: c.Topics}
	if doc.Topics == nil {
		doc.Topics = []inspect.Topic{}
	}
	clock := d.clockOf(c.GeneratedAt.Time)
	v := render.View{Head: d.clusterLine(c.Cluster, clock.Head(c.GeneratedAt.Time))}
	var tsv *render.Table
	if named || d.flags.verbose {
		tsv = show.MembersTSV(c.Groups, c.Gaps)
	} else {
		list := show.Overviews(c.Groups, c.Gaps)
		doc.Detail, doc.Groups, tsv = "groups", list, show.OverviewTSV(c.Groups, list)
		if len(list) > watch.NamedAtMost {
			v.Head = append(v.Head, render.P("  %s: %s", prose.Plural(len(list), "group"), show.States(list)))
			v.Blocks = append(v.Blocks, render.Block{Table: show.OverviewTable(list), NoTSV: true, After: []render.Line{render.L("members, timeouts and assignment: name the group, or add -v")}})
		}
	}
	switch {
	case len(c.Groups) == 0:
		v.Blocks = append(v.Blocks, render.Block{Lines: []render.Line{noGroupLine(c.Gaps)}, NoTSV: true})
	case len(v.Blocks) == 0:
		v.Blocks = show.Groups(c.Groups, c.Gaps, show.Options{Verbose: d.flags.verbose, When: clock.Second})
	}
	if lines := show.Gaps(inspect.GapsOf(c.Gaps, "")); len(lines) > 0 {
		v.Blocks = append(v.Blocks, render.Block{Lines: lines, NoTSV: true})
	}
	v.Data = doc
	v.Blocks = append(v.Blocks, render.Block{Table: tsv, TSVOnly: true})
	return v
}
