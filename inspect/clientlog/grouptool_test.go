package clientlog

import (
	"testing"

	"github.com/kgdiag/kgdiag/inspect"
)

// The output of kafka-consumer-groups.sh stands among lines of a log, and ends with its
// last row.
func TestATableOfTheGroupToolAmongLogLines(t *testing.T) {
	got := events(t, `$ kafka-consumer-groups --bootstrap-server b:9092 --describe --group orders --members
GROUP   CONSUMER-ID              GROUP-INSTANCE-ID  HOST        CLIENT-ID  #PARTITIONS
orders  ClickHouse 19.11.0-1f0c  -                  /10.0.0.1   ch         3
orders  ClickHouse 19.11.0-2f0c  -                  /10.0.0.2   ch         0

[2026-11-29 14:43:13,123] INFO [Consumer clientId=c, groupId=orders] (Re-)joining group (org.apache.kafka.clients.consumer.internals.ConsumerCoordinator)
GROUP   TOPIC   PARTITION  CURRENT-OFFSET  LOG-END-OFFSET  LAG  CONSUMER-ID  HOST  CLIENT-ID
orders  orders  0          5               9               4    -            -     -
`, Options{})
	var signs []inspect.Sign
	for _, e := range got {
		if e.Group != "orders" {
			t.Errorf("line %d is of group %q", e.From.Line, e.Group)
		}
		signs = append(signs, e.Sign)
	}
	if len(signs) != 3 || signs[0] != inspect.SignIdleSpread || signs[1] != inspect.SignRejoining || signs[2] != inspect.SignNobodyReads || got[0].From.Line != 2 || got[2].From.Line != 7 {
		t.Errorf("%v", signs)
	}
}

// A head that lacks a column, or whose rows are cut, is no table that says something.
func TestATableThatIsNoneSaysNothing(t *testing.T) {
	for _, text := range []string{
		"TOPIC PARTITION LOG-END-OFFSET LAG CONSUMER-ID X-CURRENT-OFFSET\norders 0 9 x - -\n",
		"CURRENT-OFFSET TOPIC PARTITION LAG CONSUMER-ID LOG-END-OFFSET\n- orders 0 x -\n",
		"GROUP CONSUMER-ID HOST CLIENT-ID #PARTITIONS\norders c /10.0.0.1 c\n",
	} {
		for _, e := range events(t, text, Options{}) {
			if e.Sign != "" {
				t.Errorf("%q says %s", text, e.Sign)
			}
		}
	}
}
