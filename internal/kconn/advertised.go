package kconn

import (
	"context"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kgdiag/kgdiag/internal/hedge"
	"github.com/kgdiag/kgdiag/internal/kconn/fault"
)

// checkAdvertised makes sure that at least one broker can be reached under the
// name by which it calls itself: every request but the first ones goes there.
func (c Config) checkAdvertised(ctx context.Context, cl *kgo.Client, d *dialer, seed string, meta *kmsg.MetadataResponse) error {
	brokers := slices.Clone(meta.Brokers)
	if len(brokers) == 0 {
		return &fault.Error{Kind: fault.Connection, Addr: seed, Msg: "answers, but knows no broker", Tip: "the cluster is starting; try again"}
	}
	slices.SortFunc(brokers, func(a, b kmsg.MetadataResponseBroker) int { return int(a.NodeID) - int(b.NodeID) })
	addr := func(b kmsg.MetadataResponseBroker) string {
		return net.JoinHostPort(b.Host, strconv.Itoa(int(b.Port)))
	}
	for _, b := range brokers {
		if addr(b) == seed && d.c.brokers.target(seed, b.NodeID) == d.c.brokers.target(seed, -1) {
			return nil // it has just answered under that name
		}
	}
	asked := brokers[:min(len(brokers), 12)]
	_, errs := hedge.First(ctx, asked, 500*time.Millisecond, func(ctx context.Context, b kmsg.MetadataResponseBroker) (kmsg.Response, error) {
		resp, err := cl.Broker(int(b.NodeID)).Request(ctx, metadataOf(nil))
		if err != nil {
			return nil, d.explain(ctx, addr(b), err)
		}
		return resp, nil
	})
	if errs == nil {
		return nil
	}
	return c.advertisedError(seed, asked, joinErrors(errs))
}

// advertisedError is for a cluster whose bootstrap address works while none of
// the addresses that its brokers give out does.
func (c Config) advertisedError(seed string, brokers []kmsg.MetadataResponseBroker, err error) error {
	e := fault.As(err)
	if e == nil {
		return err
	}
	switch e.Kind {
	case fault.Unresolvable, fault.Refused, fault.Timeout, fault.Unreachable, fault.Connection:
	default:
		return err // TLS or SASL: the error says it all
	}
	names := make([]string, 0, 2)
	for _, b := range brokers[:min(len(brokers), 2)] {
		names = append(names, net.JoinHostPort(b.Host, strconv.Itoa(int(b.Port))))
	}
	calls := "calls itself " + names[0]
	if len(brokers) > 1 {
		calls = "its brokers call themselves " + strings.Join(names, ", ")
		if len(brokers) > 2 {
			calls += ", …"
		}
	}
	reason := e.Msg
	if i := strings.Index(reason, ";"); i > 0 {
		reason = reason[:i]
	}
	return &fault.Error{Kind: fault.Advertised, Addr: "", Err: err,
		Msg: fmt.Sprintf("%s answers, but %s: %s", seed, calls, reason),
		Tip: "through a port-forward: --broker-map " + sampleMap(brokers)}
}

// sampleMap writes a broker map with the right ids and invented ports.
func sampleMap(brokers []kmsg.MetadataResponseBroker) string {
	var parts []string
	for i, b := range brokers {
		if i == 4 {
			parts = append(parts, "…")
			break
		}
		parts = append(parts, fmt.Sprintf("%d=localhost:%d", b.NodeID, 19091+i))
	}
	return strings.Join(parts, ",")
}
