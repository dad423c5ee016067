package advise

import (
	"fmt"
	"strings"
	"time"

	"github.com/kgdiag/kgdiag/inspect"
)

// balancers are load balancers that drop idle connections, known by the address of
// what stands behind them: Azure's after 4 minutes, AWS' network load balancer after
// 350 s.
var balancers = []struct {
	suffix string
	idle   time.Duration
	source string
}{
	{".servicebus.windows.net", 4 * time.Minute, "as Microsoft recommends"},
	{".elb.", 350 * time.Second, "below the 350 s of AWS' network load balancer"},
	{".vpce.amazonaws.com", 350 * time.Second, "below the 350 s of AWS' network load balancer"},
}

var _ = register(Rule{
	ID: "KGD114", Name: "idle-connection-cut", Severity: Warning, Since: "v0.1.0", Scope: PerClient,
	Needs: []inspect.Fact{inspect.FactClientConfig},
	Doc: Doc{
		Summary: "The load balancer closes idle connections before the client does.",
		Why: "Azure drops a connection that was idle for four minutes and notifies neither side. The client learns of it when a request times out, " +
			"which can look like a dead coordinator. AWS' network load balancer does the same after 350 seconds. Microsoft asks for connections.max.idle.ms and metadata.max.age.ms of 180000 with Event Hubs.",
		Fix:   "Set connections.max.idle.ms below the load balancer's limit.",
		Price: "rarely used connections are reopened more often",
		Refs:  []string{"Azure Event Hubs for Apache Kafka, recommended configurations"},
	},
	Check: func(s *Subject, report func(Finding)) {
		boot, ok := s.Get(keyBootstrap)
		idle, okIdle := s.Timed(keyIdle)
		if !ok || !okIdle {
			return
		}
		limit, source := time.Duration(0), ""
		for _, b := range balancers {
			if strings.Contains(boot.Text, b.suffix) {
				limit, source = b.idle, b.source
			}
		}
		if limit == 0 || idle.D > 0 && idle.D < limit {
			return
		}
		what := span(idle.D)
		if idle.D <= 0 {
			what = "off"
		}
		f := s.Finding(Warning, fmt.Sprintf("%s is %s, but %s is behind a load balancer that closes idle connections after %s",
			idle.Spelled, what, firstHost(boot.Text), span(limit)), idle)
		f.Fix = &Fix{Set: map[string]string{keyIdle: ms(3 * time.Minute)}, Notes: notesFor(keyIdle, source)}
		report(f)
	},
})

func firstHost(bootstrap string) string {
	host, _, _ := strings.Cut(bootstrap, ",")
	return strings.TrimSpace(host)
}
