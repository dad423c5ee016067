package cmd

import (
	"context"
	"errors"
	"slices"

	"github.com/kgdiag/kgdiag/inspect"
	"github.com/kgdiag/kgdiag/inspect/collect"
	"github.com/kgdiag/kgdiag/inspect/past"
)

// live reads the groups from the cluster, if one is to be asked: a group is named or
// filtered, or a cluster stands on the command line. A nil case without an error
// says that none is. The groups of configuration files are read too, where they
// exist; that one does not is no error, for it may be about to be deployed.
func (o *adviseCmd) live(ctx context.Context, groups []string, configs []inspect.ClientConfig) (*inspect.Case, error) {
	if o.from == "" && len(groups) == 0 && !o.groups.any() && !o.clusterOnCommandLine() {
		return nil, nil
	}
	sel, err := o.groups.choose(o.app, nil)
	if err != nil {
		return nil, err
	}
	sel.Groups = slices.Clone(groups)
	if o.from != "" {
		return o.fromFile(ctx, sel)
	}
	for _, c := range configs {
		if c.Group != "" && !sel.All && checkIDs([]string{c.Group}) == nil && !slices.Contains(sel.Groups, c.Group) {
			sel.Groups = append(sel.Groups, c.Group)
		}
	}
	since, err := o.parseMoment("--since", o.since, o.now())
	if err != nil {
		return nil, err
	}
	s, err := o.open(ctx)
	if err != nil {
		return nil, err
	}
	defer s.close()
	p, err := o.readPast(ctx, s, past.Query{Selection: sel, Want: collect.Everything(), ScanToo: true,
		Window: inspect.Window{From: inspect.At(since), To: inspect.At(o.now())}})
	if err != nil {
		return nil, err
	}
	return p.Case.InWindow(), groupsError(onlyNamed(p.Missing, groups))
}

// fromFile reads the groups from a case file: those that are named, or all.
func (o *adviseCmd) fromFile(ctx context.Context, sel collect.Selection) (*inspect.Case, error) {
	c, err := past.ReadFile(ctx, o.from)
	if err != nil {
		return nil, err
	}
	p, err := past.FromCase(ctx, c, o.from, past.Query{Selection: sel, Window: c.Window})
	if err != nil {
		return nil, err
	}
	c.Groups = slices.DeleteFunc(c.Groups, func(g inspect.Group) bool { return !sel.Keeps(&g) })
	return c.InWindow(), groupsError(p.Missing)
}

// onlyNamed drops from an error what is not said of a group that the user named.
func onlyNamed(err error, groups []string) error {
	var missing *collect.NotFoundError
	var open *collect.IncompleteError
	if err == nil || errors.As(err, &open) || !errors.As(err, &missing) {
		return err
	}
	left := *missing
	left.Groups = slices.DeleteFunc(slices.Clone(missing.Groups), func(g string) bool { return !slices.Contains(groups, g) })
	if len(left.Groups) == 0 {
		return nil
	}
	return &left
}

// clusterOnCommandLine reports whether the command line names a cluster.
func (a *app) clusterOnCommandLine() bool {
	return len(a.flags.bootstrap) > 0 || a.flags.commandConfig != "" || a.flags.context != ""
}
