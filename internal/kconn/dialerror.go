package kconn

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"syscall"
	"time"

	"github.com/kgdiag/kgdiag/internal/kconn/fault"
	"github.com/kgdiag/kgdiag/internal/prose"
)

// via names the address that was dialled, where it is not the one in the message.
func via(addr, target string) string {
	if addr == target {
		return ""
	}
	return " (dialled at " + target + ")"
}

// dialError tells a failed TCP connection in one line.
func (d *dialer) dialError(ctx context.Context, addr, target string, err error) *fault.Error {
	e := &fault.Error{Addr: addr, Err: err}
	suffix := via(addr, target)
	if d.c.proxy != nil {
		e.Kind, e.Msg = fault.Proxy, proxyMessage(d.c.proxy.addr, err)
		e.Tip = "proxy.url=socks5://[USER:PASSWORD@]HOST:PORT; without it the brokers are dialled directly"
		return e
	}
	var dns *net.DNSError
	switch {
	case errors.As(err, &dns) && dns.IsNotFound:
		e.Kind, e.Msg = fault.Unresolvable, "no such host"
		e.Tip = "is the name spelled right, and known to this machine's DNS? Behind a port-forward: --broker-map"
	case errors.As(err, &dns):
		e.Kind, e.Msg = fault.Unresolvable, "the name server did not answer"
		if !dns.IsTimeout {
			e.Msg = "the name could not be looked up: " + dns.Err
		}
		e.Tip = "try again, or give an IP address"
	case errors.Is(err, syscall.ECONNREFUSED):
		e.Kind, e.Msg = fault.Refused, "connection refused"
		e.Tip = "nothing listens on this port: is the port right, and the broker up?"
	case isTimeout(ctx, err):
		e.Kind, e.Msg = fault.Timeout, "no answer within "+prose.Exact(d.timeout.Round(time.Millisecond))
		e.Tip = "a firewall, a VPN that is off, or an address that is only known inside the cluster's network; --timeout 60s waits longer"
	case errors.Is(err, syscall.EHOSTUNREACH), errors.Is(err, syscall.ENETUNREACH), errors.Is(err, syscall.EADDRNOTAVAIL):
		e.Kind, e.Msg, e.Tip = d.unreachable(ctx, target)
	case ctx.Err() != nil:
		e.Kind, e.Msg = fault.Cancelled, "cancelled"
	case noSuitable(err):
		e.Kind, e.Msg = fault.Unreachable, "has no address of the family "+d.c.settings.Get("broker.address.family")
		e.Tip = "broker.address.family=any"
	default:
		e.Kind, e.Msg = fault.Connection, fault.Bare(err)
	}
	e.Msg += suffix
	return e
}

// unreachable looks at the addresses of a host to which no route leads: a name
// with IPv6 addresses alone is the usual reason on a machine without IPv6.
func (d *dialer) unreachable(ctx context.Context, target string) (fault.Kind, string, string) {
	host, _, _ := net.SplitHostPort(target)
	ips, err := net.DefaultResolver.LookupNetIP(ctx, "ip", host)
	v6 := err == nil && len(ips) > 0
	for _, ip := range ips {
		v6 = v6 && ip.Is6() && !ip.Is4In6()
	}
	if v6 {
		return fault.Unreachable, fmt.Sprintf("has IPv6 addresses alone (%s), and no route from here leads to them", ips[0]),
			"run kgdiag on a machine with IPv6, or through a proxy: -X proxy.url=socks5://HOST:PORT"
	}
	return fault.Unreachable, "no route to host", "is the VPN on? From inside the cluster's network: kgdiag is one file to copy"
}

func noSuitable(err error) bool {
	var ae *net.AddrError
	return errors.As(err, &ae)
}

func proxyMessage(addr string, err error) string {
	text := fault.Bare(err)
	// x/net/proxy: "socks connect tcp PROXY->TARGET: …", the reply in words.
	if i := strings.LastIndex(text, ": "); i >= 0 && strings.HasPrefix(text, "socks connect") {
		text = text[i+2:]
	}
	text = strings.TrimPrefix(text, "unknown error ")
	if errors.Is(err, syscall.ECONNREFUSED) {
		return "the SOCKS5 proxy " + addr + " is not there: connection refused"
	}
	return "the SOCKS5 proxy " + addr + " says: " + text
}

func isTimeout(ctx context.Context, err error) bool {
	var ne net.Error
	return errors.Is(err, context.DeadlineExceeded) || errors.Is(ctx.Err(), context.DeadlineExceeded) || errors.As(err, &ne) && ne.Timeout()
}
