// Package advise judges: it reads an inspect.Case and says what is wrong with the
// configuration of the consumers in it, why, and which setting to change to what.
//
// A rule is one file that registers itself. It declares the facts that it needs;
// where one is missing for a consumer, the engine does not call the rule and
// reports it as unchecked with the reason, because silence must never mean
// healthy. Every fix is tried out before it is offered: the engine applies it to a
// copy of the case and runs all rules again, so that following one piece of advice
// never earns another.
//
// The package refuses to do I/O, to look at the clock and to print. It imports
// nothing of ours but the types of inspect.
//
//	report := advise.Evaluate(&c, advise.Options{})
//	for _, f := range report.Findings {
//		fmt.Println(f.ID, f.Message, f.Fix.Set)
//	}
package advise
