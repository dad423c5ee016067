package settings

import (
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
)

// sameCluster compares two server lists: one address in common makes them one.
func sameCluster(a, b string) bool {
	as, errA := SplitServers(a)
	bs, errB := SplitServers(b)
	if errA != nil || errB != nil {
		return a == b
	}
	return slices.ContainsFunc(as, func(s string) bool { return slices.Contains(bs, s) })
}

// errUser does not repeat the address: a password stands in it.
var errUser = errors.New("an address has USER:PASSWORD@ before the host, which Kafka does not know: set sasl.username and sasl.password")

// SplitServers cuts and checks a list of host[:port]; a missing port is 9092, as
// in librdkafka (Java refuses such an address).
func SplitServers(list string) ([]string, error) {
	var out []string
	for _, s := range strings.Split(list, ",") {
		s = strings.TrimSpace(s)
		if s == "" {
			continue
		}
		if i := strings.Index(s, "://"); i >= 0 {
			// PLAINTEXT://host:port is how listeners are written on brokers.
			s = s[i+3:]
		}
		if strings.Contains(s, "@") {
			return nil, errUser
		}
		host, port, err := net.SplitHostPort(s)
		if err != nil {
			if strings.Count(s, ":") > 1 && !strings.HasPrefix(s, "[") {
				return nil, fmt.Errorf("%q: an IPv6 address with its port is written [::1]:9092", s)
			}
			host, port = strings.Trim(s, "[]"), "9092"
		}
		if host == "" {
			return nil, fmt.Errorf("%q: the host is missing", s)
		}
		if n, err := net.LookupPort("tcp", port); err != nil || n == 0 || strings.Trim(port, "0123456789") != "" {
			return nil, fmt.Errorf("%q: %q is no port", s, port)
		}
		if strings.ContainsAny(host, " \t/\\?#") {
			return nil, fmt.Errorf("%q: %q is no host", s, host)
		}
		out = append(out, net.JoinHostPort(host, port))
	}
	return out, nil
}
