//go:build realkafka

package realtest

import (
	"fmt"
	"testing"
)

// TestClients holds the laboratory itself to what the other tests lean on: each client
// joins, shares the work with a second one (but for kafka-python), and leaves at SIGTERM.
func TestClients(t *testing.T) {
	for _, k := range []kind{javaClient, spring, librdkafka, kafkaPython, aiokafka, franzGo, kafkaJS, sarama} {
		t.Run(string(k), func(t *testing.T) {
			t.Parallel()
			c := shared(t)
			topic, group := name("clients"), name("clients")
			c.topic(topic, 4)
			c.produce(topic, 20)
			spec := client{Kind: k, Group: group, Topics: topic, ClientID: "one", Session: 6000, Heartbeat: 2000, MaxPoll: 15000}
			first := startAssigned(t, c.bootstrap, spec, 4)
			if k == kafkaPython { // a join of its that another one interrupts does not always end: it works alone
				first.term()
				if got := first.seen(); got[len(got)-1].Event != "closed" {
					t.Errorf("SIGTERM: the last event is %v, want closed", got[len(got)-1])
				}
				c.logged(fmt.Sprintf("Preparing to rebalance group %s .*LeaveGroup", group))
				return
			}
			at := first.count()
			spec.ClientID = "two"
			second := start(t, c.bootstrap, spec)
			second.assigned(2)
			if k != aiokafka { // its assignments are all there is to see of a change
				first.await(at, "a revocation", func(e event) bool { return e.Event == "revoked" })
			}
			at = first.count()
			second.term()
			if got := second.seen(); got[len(got)-1].Event != "closed" {
				t.Errorf("SIGTERM: the last event is %v, want closed", got[len(got)-1])
			}
			first.again(at, 4)
			c.logged(fmt.Sprintf("Preparing to rebalance group %s .*LeaveGroup", group))
		})
	}
}
