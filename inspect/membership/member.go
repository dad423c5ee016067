package membership

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/kgdiag/kgdiag/inspect"
)

// TopicPartition names a partition.
type TopicPartition struct {
	Topic     string
	Partition int32
}

// Compare orders partitions by topic and number.
func Compare(a, b TopicPartition) int {
	return cmp.Or(cmp.Compare(a.Topic, b.Topic), cmp.Compare(a.Partition, b.Partition))
}

// String is the partition as Kafka's logs name it, "orders-3".
func (p TopicPartition) String() string { return p.Topic + "-" + strconv.Itoa(int(p.Partition)) }

// Member is a member as records or polls describe it. A Member that is part of a Step
// never changes: a later record makes a new one.
type Member struct {
	ID, ClientID, Host string
	InstanceID         *string         // group.instance.id; nil for a dynamic member
	Session, Rebalance *inspect.Millis // its timeouts; nil unknown
	Topics             []string        // subscription, sorted; nil unknown
	TopicRegex         string          // KIP-848: subscription by pattern
	Assignor           string          // KIP-848: the server-side assignor that it asks for; "" none
	Client             inspect.ClientGuess
	ServerSide         bool             // heartbeats under KIP-848, KIP-932 or KIP-1071
	Since              time.Time        // record that first named it; zero where it was there before
	Recalled           *int32           // generation that it had been part of before it joined, -1 none, nil unknown: family.Recalled
	Assigned           []TopicPartition // in the newest record or poll

	// Of server-side assignment.

	Epoch         int32     // member epoch
	State         int8      // inspect.MemberStable, …
	StateAt       time.Time // of the record that first showed State and Epoch
	StaticLeft    time.Time // of the record with epoch -2; zero none
	StaticLeftPos int       // its position

	unread   bool // it was there, or may have been, before the first record that names it
	doubtful bool // unread, and what would tell whether that record is its join is compacted away
}

// Static reports a member with a group.instance.id.
func (m *Member) Static() bool { return m.Instance() != "" }

// Instance is the group.instance.id; "" for a dynamic member.
func (m *Member) Instance() string { return text(m.InstanceID) }

// Name names the member for people: its instance id, else its client id, else its
// member id.
func (m *Member) Name() string { return inspect.MemberName(m.ClientID, m.ID, m.InstanceID) }

// Label names the member where others have the same client id, on the same host or
// elsewhere: by instance id, client id, client id and host, or with the end of its
// member id as well.
func (m *Member) Label(sameClient, sameHost bool) string {
	switch {
	case m.Static() || m.ClientID == "":
		return m.Name()
	case sameHost:
		return m.ClientID + "@" + m.Host + "/" + m.ID[max(0, len(m.ID)-4):]
	case sameClient:
		return m.ClientID + "@" + m.Host
	}
	return m.ClientID
}

// Label is the shortest name that tells a member from the others.
func Label(m *Member, among map[string]*Member) string {
	sameClient, sameHost := false, false
	for _, o := range among {
		if o.ID != m.ID && o.ClientID == m.ClientID && !o.Static() {
			sameClient, sameHost = true, sameHost || o.Host == m.Host
		}
	}
	return m.Label(sameClient, sameHost)
}

// SameClient reports whether two members can be the same consumer, restarted: the
// same instance id, or the same client id on the same host. A client id that is
// empty tells nobody from anybody.
func SameClient(a, b *Member) bool {
	if a.Static() || b.Static() {
		return a.Instance() == b.Instance()
	}
	return a.ClientID == b.ClientID && a.Host == b.Host && a.ClientID != ""
}

// ByID are the members in the order of their ids.
func ByID(m map[string]*Member) []*Member {
	out := make([]*Member, 0, len(m))
	for _, id := range slices.Sorted(maps.Keys(m)) {
		out = append(out, m[id])
	}
	return out
}

func sameMember(a, b *Member) bool { return a.ID == b.ID }

// text is the string behind p; "" for nil.
func text(p *string) string {
	if p == nil {
		return ""
	}
	return *p
}
