package kconn

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"

	xproxy "golang.org/x/net/proxy"

	"github.com/kgdiag/kgdiag/internal/kconn/fault"
	"github.com/kgdiag/kgdiag/internal/kconn/settings"
)

// brokerMap says where to dial instead of the addresses that brokers advertise.
type brokerMap struct {
	all  string            // one address for every broker, and for the bootstrap address
	byID map[int32]string  // by node id
	addr map[string]string // by advertised host:port, or host
}

func (m brokerMap) empty() bool { return m.all == "" && len(m.byID) == 0 && len(m.addr) == 0 }

// parseBrokerMap reads ID=HOST:PORT,… ; a HOST or HOST:PORT may stand for an ID, for
// a bootstrap address that does not resolve; a single HOST:PORT stands for all.
func parseBrokerMap(s string) (brokerMap, error) {
	m := brokerMap{byID: make(map[int32]string), addr: make(map[string]string)}
	for _, part := range strings.Split(s, ",") {
		part = strings.TrimSpace(part)
		if part == "" {
			continue
		}
		from, to, ok := strings.Cut(part, "=")
		if !ok {
			from, to = "", from
		}
		host, port, err := net.SplitHostPort(strings.TrimSpace(to))
		if n, perr := strconv.ParseUint(port, 10, 16); err != nil || perr != nil || n == 0 {
			return brokerMap{}, fmt.Errorf("%q: HOST:PORT is expected", settings.WithoutUser(to))
		}
		if host == "" {
			host = "localhost"
		}
		if strings.Contains(part, "@") {
			return brokerMap{}, fmt.Errorf("%q: an address has no user and no password", settings.WithoutUser(part))
		}
		target := net.JoinHostPort(host, port)
		from = strings.TrimSpace(from)
		id, idErr := strconv.ParseInt(from, 10, 32)
		switch {
		case !ok && m.all == "":
			m.all = target
		case !ok:
			return brokerMap{}, errors.New("two addresses for all brokers; ID=HOST:PORT names one")
		case idErr == nil && id >= 0:
			if _, twice := m.byID[int32(id)]; twice {
				return brokerMap{}, fmt.Errorf("broker %d stands twice", id)
			}
			m.byID[int32(id)] = target
		case from == "" || idErr == nil:
			return brokerMap{}, fmt.Errorf("%q: the id of a broker is expected before the =", part)
		default:
			m.addr[from] = target
		}
	}
	return m, nil
}

// target is the address to dial for an advertised one; id is -1 where it is not
// known (a bootstrap address).
func (m brokerMap) target(addr string, id int32) string {
	if t, ok := m.byID[id]; ok {
		return t
	}
	if t, ok := m.addr[addr]; ok {
		return t
	}
	if host, _, err := net.SplitHostPort(addr); err == nil {
		if t, ok := m.addr[host]; ok {
			return t
		}
	}
	if m.all != "" {
		return m.all
	}
	return addr
}

// proxy is a SOCKS5 server on the way.
type proxy struct {
	addr string
	auth *xproxy.Auth
}

// network reads what concerns the way to the brokers.
func (c *Config) network() error {
	var err error
	brokers := c.settings.At(settings.KeyBrokerMap)
	if c.brokers, err = parseBrokerMap(brokers.Value); err != nil {
		return fault.Usagef("--broker-map 1=localhost:19091,2=localhost:19092", "%s: %w", brokers.Where(), err)
	}
	if s := c.settings.At("broker.address.family"); s.Value != "" && !slices.Contains([]string{"any", "v4", "v6"}, s.Value) {
		return fault.Usagef("any, v4 or v6", "%s: %q is no address family", s.Where(), s.Value)
	}
	s := c.settings.At("client.dns.lookup")
	switch s.Value {
	case "", "use_all_dns_ips", "resolve_canonical_bootstrap_servers_only":
	case "default":
		c.settings.Warn("%s=default: Kafka 4 clients refuse this value; use_all_dns_ips is meant and taken", s.Where())
	default:
		return fault.Usagef("use_all_dns_ips or resolve_canonical_bootstrap_servers_only", "%s: %q is no way to look up names", s.Where(), s.Value)
	}
	return c.socks()
}

func (c *Config) socks() error {
	s := c.settings.At(settings.KeyProxy)
	if s.Value == "" {
		return nil
	}
	u, err := url.Parse(strings.TrimSpace(s.Value))
	const hint = "proxy.url=socks5://[USER:PASSWORD@]HOST:PORT"
	if err != nil {
		return fault.Usagef(hint, "%s: not a URL", s.Where()) // the error would quote the password
	}
	if u.Scheme != "socks5" && u.Scheme != "socks5h" {
		return fault.Usagef(hint, "%s: %q is not spoken, SOCKS5 is", s.Where(), u.Scheme)
	}
	if u.Hostname() == "" {
		return fault.Usagef(hint, "%s: the host is missing", s.Where())
	}
	port := u.Port()
	if port == "" {
		port = "1080"
	}
	c.proxy = &proxy{addr: net.JoinHostPort(u.Hostname(), port)}
	if u.User != nil {
		pass, _ := u.User.Password()
		c.proxy.auth = &xproxy.Auth{User: u.User.Username(), Password: pass}
	}
	return nil
}

// canonicalSeeds replaces each bootstrap name by the names of all its addresses,
// as resolve_canonical_bootstrap_servers_only has it (Kerberos needs names).
func canonicalSeeds(ctx context.Context, seeds []string) []string {
	var out []string
	for _, s := range seeds {
		host, port, err := net.SplitHostPort(s)
		if err != nil {
			continue
		}
		ips, err := net.DefaultResolver.LookupHost(ctx, host)
		if err != nil {
			out = append(out, s) // the dial will say what is wrong with it
			continue
		}
		for _, ip := range ips {
			name := ip
			if names, err := net.DefaultResolver.LookupAddr(ctx, ip); err == nil && len(names) > 0 {
				name = strings.TrimSuffix(names[0], ".")
			}
			out = append(out, net.JoinHostPort(name, port))
		}
	}
	return slices.Compact(out)
}
