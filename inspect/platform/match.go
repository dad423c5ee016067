package platform

import (
	"slices"
	"strings"
	"time"

	"github.com/kgdiag/kgdiag/inspect"
)

// Member is what is known of a member when its process is looked for.
type Member struct {
	ClientID, Host, InstanceID string
}

// Match is a life that is a member's, and by what it was found.
type Match struct {
	Life *inspect.ProcessLife
	By   string // "address" | "name"
}

// Find looks for the lives that may have been the member's at some moment between from
// and to: by the pod's name or the host name within its instance or client id, else by
// its address, where one pod alone has it. Sidecars share a pod's address, so lives of
// several containers of one pod may be found, and none is preferred. Lives of other
// names, addresses and times are none of the member's.
func Find(lives []inspect.ProcessLife, m Member, from, to time.Time) []Match {
	var byName, byAddress []Match
	pods := map[string]bool{}
	for i := range lives {
		l := &lives[i]
		if l.Started.After(to) || !l.Ended.IsZero() && l.Ended.Before(from) {
			continue
		}
		if nameIn(l.Name, m) || nameIn(l.Hostname, m) {
			byName = append(byName, Match{l, "name"})
		}
		if !l.HostNet && m.Host != "" && slices.Contains(l.Addresses, m.Host) {
			byAddress = append(byAddress, Match{l, "address"})
			pods[l.Namespace+"/"+l.Name] = true
		}
	}
	if len(byName) > 0 {
		return byName
	}
	if len(pods) == 1 {
		return byAddress
	}
	return nil
}

// nameIn reports whether a name stands in the instance or client id as a whole word:
// orders-1 is not in orders-12. Short names prove nothing.
func nameIn(name string, m Member) bool {
	if len(name) < 4 {
		return false
	}
	for _, id := range []string{m.InstanceID, m.ClientID} {
		for rest := id; ; {
			i := strings.Index(rest, name)
			if i < 0 {
				break
			}
			before, after := rest[:i], rest[i+len(name):]
			if !endsInWord(before) && !beginsWithWord(after) {
				return true
			}
			rest = after
		}
	}
	return false
}

func endsInWord(s string) bool     { return s != "" && isWord(s[len(s)-1]) }
func beginsWithWord(s string) bool { return s != "" && isWord(s[0]) }
func isWord(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}
