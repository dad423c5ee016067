package cmd

import (
	"github.com/kgdiag/kgdiag/internal/kconn"
	"github.com/kgdiag/kgdiag/internal/render"
	"github.com/kgdiag/kgdiag/internal/term"
)

// contextsDoc is the document kgdiag.contexts/v1.
type contextsDoc struct {
	envelope
	File     string              `json:"file"` // where they belong
	Contexts []kconn.ContextInfo `json:"contexts"`
}

// listContexts shows the named clusters; it dials none of them.
func (o *checkCmd) listContexts() error {
	opt, err := o.connectOptions()
	if err != nil {
		return err
	}
	list, path, err := kconn.Contexts(opt)
	if err != nil {
		return err
	}
	if list == nil {
		list = []kconn.ContextInfo{}
	}
	doc := contextsDoc{envelope: o.envelopeOf("kgdiag.contexts/v1", nil), File: path, Contexts: list}
	v := render.View{Data: doc}
	if len(list) == 0 {
		v.Blocks = []render.Block{{Lines: []render.Line{render.L("no named clusters; they are kept in %s, see docs/connecting.md", path)}}}
		return o.show(v)
	}
	t := &render.Table{Columns: render.Cols("CONTEXT", "BOOTSTRAP", "PROTOCOL", "MECHANISM", "FROM", "PROBLEM")}
	for _, c := range list {
		name := render.P("%s", c.Name)
		if c.Default {
			name = render.S(term.Bold, "%s (default)", c.Name)
		}
		t.Rows = append(t.Rows, []render.Span{name, render.P("%s", c.Bootstrap), render.P("%s", c.Protocol), render.P("%s", c.Mechanism), render.P("%s", c.From), render.S(term.Warn, "%s", c.Problem)})
	}
	v.Blocks = []render.Block{{Table: t}}
	return o.show(v)
}
