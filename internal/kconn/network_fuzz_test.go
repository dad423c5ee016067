package kconn

import (
	"net"
	"strconv"
	"strings"
	"testing"
)

// FuzzBrokerMap: what --broker-map sends a connection to is an address that can be
// dialled, and no message quotes what stands before an @.
func FuzzBrokerMap(f *testing.F) {
	for _, s := range []string{"1=localhost:19091,2=[::1]:19092", "localhost:9092", "kafka=:9092", "kafka:9092=10.0.0.1:1", "u:secret@h:1", "1=a:1,1=b:1", "=a:1", "-1=a:1", "1=a:0", "1=a:65536", ",,", "a:1,b:2"} {
		f.Add(s, "kafka:9092", int32(1))
	}
	f.Fuzz(func(t *testing.T, s, addr string, id int32) {
		m, err := parseBrokerMap(s)
		if err != nil {
			if strings.Contains(s, "=") || !strings.Contains(s, "@") || strings.Contains(s, ",") {
				return
			}
			if user, secret, ok := strings.Cut(s[:strings.LastIndex(s, "@")], ":"); ok && len(secret) > 8 && !strings.ContainsAny(s, " \t/\"'@") && user != "" && strings.Contains(err.Error(), secret) {
				t.Errorf("%q: %v", s, err)
			}
			return
		}
		to := m.target(addr, id)
		if to == addr {
			return
		}
		host, port, err := net.SplitHostPort(to)
		if n, perr := strconv.Atoi(port); err != nil || perr != nil || host == "" || n < 1 || n > 65535 {
			t.Errorf("%q sends %s (%d) to %q", s, addr, id, to)
		}
	})
}
