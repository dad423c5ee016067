package diagnose

import (
	"cmp"
	"slices"

	"github.com/kgdiag/kgdiag/inspect"
)

// explain finds the main cause: the weightiest by how often and how surely it was
// seen, of one member where one stands out.
func (d *Diagnosis) explain() {
	type key struct {
		cause inspect.Cause
		who   string
	}
	score := map[key]float64{}
	list := map[key][]Occurrence{}
	var order []key
	add := func(k key, points float64, oc Occurrence) {
		if _, ok := list[k]; !ok {
			order = append(order, k)
		}
		score[k] += points
		list[k] = append(list[k], oc)
	}
	for i := range d.Rebalances {
		r := &d.Rebalances[i]
		told := false
		for j := range r.Members.Left {
			l := &r.Members.Left[j]
			if l.Cause != r.Cause && !l.Cause.Eviction() {
				continue
			}
			told = true
			add(key{l.Cause, inspect.MemberName(l.ClientID, l.MemberID, l.InstanceID) + "\x00" + l.Host}, points(l.Cause, l.Confidence), Occurrence{r, l})
		}
		if !told && r.Cause == inspect.UnknownCause {
			add(key{r.Cause, ""}, 0.5, Occurrence{Rebalance: r}) // nobody went: a rejoin that somebody asked for
		} else if !told {
			add(key{r.Cause, ""}, points(r.Cause, r.Confidence), Occurrence{Rebalance: r})
		}
	}
	if len(order) == 0 {
		return
	}
	best := slices.MaxFunc(order, func(x, y key) int { return cmp.Compare(score[x], score[y]) })
	d.Cause, d.Occurrences, d.Times = best.cause, list[best], len(list[best])
	d.surest()
	at := 0
	for _, r := range d.Records {
		at += r.Times
	}
	d.AtRecord = at > 0 && 2*at >= d.Times
}

// points weighs one occurrence.
func points(c inspect.Cause, conf inspect.Confidence) float64 {
	sure := map[inspect.Confidence]float64{inspect.High: 1, inspect.Medium: 0.8, inspect.Low: 0.4}[conf]
	info := c.Info()
	w := float64(info.Weight)
	if info.Acts {
		w += 20
	}
	return w * sure
}

// surest takes confidence, rivals and evidence from the surest occurrence.
func (d *Diagnosis) surest() {
	surest := slices.MaxFunc(d.Occurrences, func(x, y Occurrence) int {
		return cmp.Or(yesFirst(y.Rebalance.Basis == inspect.Stated, x.Rebalance.Basis == inspect.Stated), cmp.Compare(x.confidence().Rank(), y.confidence().Rank()))
	})
	d.Confidence, d.Basis, d.Evidence = surest.confidence(), surest.Rebalance.Basis, surest.Rebalance.Evidence
	d.Rivals = surest.Rebalance.Rivals
	if l := surest.Departure; l != nil {
		d.Member, d.Host = inspect.MemberName(l.ClientID, l.MemberID, l.InstanceID), l.Host
		if l.Rivals != nil {
			d.Rivals = l.Rivals
		}
	}
}

// confidence is that of the departure, where the occurrence is one.
func (oc Occurrence) confidence() inspect.Confidence {
	if oc.Departure != nil {
		return oc.Departure.Confidence
	}
	return oc.Rebalance.Confidence
}

// yesFirst compares two answers, so that yes sorts before no.
func yesFirst(x, y bool) int {
	switch {
	case x == y:
		return 0
	case x:
		return -1
	}
	return 1
}
