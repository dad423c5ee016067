package diagnose_test

import (
	"context"
	"fmt"
	"log"

	"github.com/kgdiag/kgdiag/advise/diagnose"
	"github.com/kgdiag/kgdiag/inspect/past"
)

// A program gets what "kgdiag why orders --from orders.kgcase" says.
func ExampleGroup() {
	c, err := past.ReadFile(context.Background(), "testdata/slow-orders.kgcase")
	if err != nil {
		log.Fatal(err)
	}
	past.Rebuild(c) // the causes as this version tells them
	d := diagnose.Group(c, "orders", diagnose.Options{})
	fmt.Printf("%s: %s, confidence %s\n%s\n", d.Verdict, d.Cause, d.Confidence, d.Why())
	if f := d.Fix(); f != nil {
		fmt.Println(f.ID, f.Fix.Set, d.Avoided(f).Sure, "avoided")
	}
	// Output:
	// UNSTABLE: poll_interval_exceeded, confidence high
	// client orders-2 (10.42.7.22) needs longer between polls than max.poll.interval.ms (5m); it left the group 3 times, and its rejoin triggered another rebalance
	// KGD105 map[max.poll.interval.ms:600000] 3 avoided
}
