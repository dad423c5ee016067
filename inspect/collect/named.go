package collect

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"

	"github.com/twmb/franz-go/pkg/kerr"

	"github.com/kgdiag/kgdiag/inspect"
	"github.com/kgdiag/kgdiag/inspect/offsetlog"
)

// early is what the computed coordinators said of named groups while FindCoordinator
// was still being asked. It counts where that names the same broker.
type early struct {
	classic, consumer map[string]draft // the answers to either question
	commits           map[string]commits
}

// draft is what was said of a group of the type that its coordinator listed; ok is false
// where the right question was not among those that were asked.
func (e early) draft(group string, t inspect.GroupType) (d draft, ok bool) {
	switch t {
	case inspect.Classic:
		d, ok = e.classic[group]
	case inspect.Consumer:
		d, ok = e.consumer[group]
	case inspect.UnknownType:
		d, ok = e.classic[group]
		if other, has := e.consumer[group]; has && (otherType(d.err) || errors.Is(d.err, errMaybeConsumer)) {
			if other.err == nil || !unsupported(other.err) && !errors.Is(other.err, kerr.GroupIDNotFound) {
				d = other
			}
		}
	}
	return d, ok && !transient(d.err) && !otherType(d.err)
}

// chooseNamed finds the coordinators of the named groups. Metadata has shown the offsets
// topic, so that the coordinators are known but for the brokers' own word: the computed
// ones are asked for all that is wanted at the same time as FindCoordinator. What is
// given back are the groups that have yet to be described, by coordinator.
func (r *run) chooseNamed(ctx context.Context) map[int32][]Listed {
	ids := slices.Compact(slices.Sorted(slices.Values(r.sel.Groups)))
	guess := map[int32][]string{}
	for _, g := range ids {
		if leader := r.m.Leader(partitionOf(r.m, g)); leader >= 0 {
			guess[leader] = append(guess[leader], g)
		}
	}
	r.heard, r.early = newListing(), early{map[string]draft{}, map[string]draft{}, map[string]commits{}}
	var found map[string]lookup
	wrong := map[int32]context.CancelFunc{} // ends what is asked of a broker
	var wg sync.WaitGroup
	for b, groups := range guess {
		asking, cancel := context.WithCancel(ctx)
		defer cancel()
		wrong[b] = cancel
		wg.Go(func() { r.hear(asking, []broker{r.broker(r.m, b)}, r.heard) })
		wg.Go(func() { r.readEarly(asking, r.broker(r.m, b), groups) })
	}
	found = r.coordinators(ctx, r.m, ids)
	for b, groups := range guess {
		if !slices.ContainsFunc(groups, func(g string) bool { return found[g].broker == b }) {
			wrong[b]()
		}
	}
	wg.Wait()
	return r.confirm(ctx, found)
}

// readEarly asks a computed coordinator for its groups and, where lag is wanted, for
// their commits.
func (r *run) readEarly(ctx context.Context, b broker, ids []string) {
	var wg sync.WaitGroup
	if r.want.Lag {
		each(chunks(ids), func(ids []string) {
			wg.Go(func() {
				got, _ := r.committed(ctx, b, ids) // what fails is asked for again, and then told
				r.mu.Lock()
				defer r.mu.Unlock()
				maps.Copy(r.early.commits, got)
			})
		})
	}
	ask := func(t inspect.GroupType, into map[string]draft) {
		got := r.describeAt(ctx, b, t, ids)
		r.mu.Lock()
		defer r.mu.Unlock()
		maps.Copy(into, got)
	}
	wg.Go(func() { ask(inspect.Classic, r.early.classic) })
	wg.Go(func() { ask(inspect.Consumer, r.early.consumer) })
	wg.Wait()
}

// confirm files what was described at the right coordinators, and gives the rest.
func (r *run) confirm(ctx context.Context, found map[string]lookup) map[int32][]Listed {
	byBroker := map[int32][]string{}
	for _, g := range slices.Sorted(maps.Keys(found)) {
		l := found[g]
		if l.err != nil {
			delete(r.early.commits, g)
			r.fail(g, need{fact: inspect.FactCoordinator, what: "coordinator", acl: "DESCRIBE on Group " + g}, l.err)
			continue
		}
		byBroker[l.broker] = append(byBroker[l.broker], g)
	}
	var unheard []broker
	for b := range byBroker {
		if !r.heard.asked(b) {
			unheard = append(unheard, r.broker(r.m, b))
		}
	}
	r.hear(ctx, unheard, r.heard)
	out := map[int32][]Listed{}
	for b, groups := range byBroker {
		for _, g := range groups {
			l, ok := r.heard.Groups[g]
			if !ok { // not there, or hidden by ACLs: its describe will tell
				l = Listed{ID: g}
			}
			l.Broker = b
			d, said := r.early.draft(g, l.Type)
			switch {
			case b != r.m.Leader(partitionOf(r.m, g)):
				delete(r.early.commits, g)
				out[b] = append(out[b], l)
			case !said:
				out[b] = append(out[b], l)
			default:
				r.file(describeJob{b, l.Type, []string{g}}, g, d)
			}
		}
	}
	return out
}

// startSurvey asks for the ends of the offsets partitions while the groups are still
// being described, since the search for their last records begins there. The function
// that it gives back waits for the answer; nil means that the search asks by itself.
func (r *run) startSurvey(ctx context.Context) func() *offsetlog.Survey {
	if !r.want.Log || r.m.Offsets == nil {
		return func() *offsetlog.Survey { return nil }
	}
	var partitions []int32 // all
	if len(r.sel.Groups) > 0 && !r.sel.All {
		partitions = []int32{}
		for _, g := range r.sel.Groups {
			if p := partitionOf(r.m, g); p >= 0 && !slices.Contains(partitions, p) {
				partitions = append(partitions, p)
			}
		}
	}
	answer := make(chan *offsetlog.Survey, 1)
	go func() {
		v, err := r.opts.Log.Survey(ctx, partitions)
		if err != nil {
			v = nil
		}
		answer <- v
	}()
	return sync.OnceValue(func() *offsetlog.Survey { return <-answer })
}
