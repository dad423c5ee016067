package cmd

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/kgdiag/kgdiag/inspect"
	"github.com/kgdiag/kgdiag/inspect/collect"
	"github.com/kgdiag/kgdiag/internal/prose"
)

// live reads the groups from the cluster, if one is to be asked: a group is named or
// filtered, or a cluster stands on the command line. A nil case without an error
// says that none is. The groups of configuration files are read too, where they
// exist; that one does not is no error, for it may be about to be deployed.
func (o *adviseOptions) live(ctx context.Context, groups []string, configs []inspect.ClientConfig) (*inspect.Case, error) {
	if o.from != "" {
		return o.fromFile(groups)
	}
	named := len(groups) > 0 || o.any()
	if !named && !o.clusterOnCommandLine() {
		return nil, nil
	}
	sel, err := o.choose(o.app, nil)
	if err != nil {
		return nil, err
	}
	sel.Groups = slices.Clone(groups)
	for _, c := range configs {
		if c.Group != "" && !sel.All && checkIDs([]string{c.Group}) == nil && !slices.Contains(sel.Groups, c.Group) {
			sel.Groups = append(sel.Groups, c.Group)
		}
	}
	since, err := o.parseMoment("--since", o.since)
	if err != nil {
		return nil, err
	}
	s, err := o.open(ctx)
	if err != nil {
		return nil, err
	}
	defer s.close()
	limited, cancel := context.WithTimeout(ctx, s.conn.Timeout())
	defer cancel()
	c, err := s.collector.Collect(limited, sel, collect.Everything())
	if c != nil {
		o.readPast(limited, s, c, since)
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if c == nil {
		return nil, err
	}
	return c, groupsError(o.onlyNamed(err, groups))
}

// fromFile reads the groups from a case file: those that are named, or all.
func (o *adviseOptions) fromFile(groups []string) (*inspect.Case, error) {
	sel, err := o.choose(o.app, nil)
	if err != nil {
		return nil, err
	}
	c, err := readCaseFile(o.from)
	if err != nil {
		return nil, err
	}
	have := groupsIn(c)
	missing := absentFrom(have, groups)
	if len(groups) > 0 {
		narrow(c, groups)
	}
	c.Groups = slices.DeleteFunc(c.Groups, func(g inspect.Group) bool { return !sel.Keeps(&g) })
	o.rebuild(c)
	if len(missing) > 0 {
		return c, notFound(fmt.Errorf("group %s: not in %s", quotedList(missing), o.from), "it holds "+prose.Few(have, 8))
	}
	return c, nil
}

// onlyNamed drops from an error what is not said of a group that the user named.
func (o *adviseOptions) onlyNamed(err error, groups []string) error {
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
