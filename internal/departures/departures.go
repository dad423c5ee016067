package departures

import (
	"bufio"
	"cmp"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"sort"
	"strconv"
	"strings"
	"time"

	"github.com/kgdiag/kgdiag/inspect"
)

// Group is a consumer group of which one member went, as one line of a file holds it.
type Group struct {
	Group     string           `json:"group"`
	Broker    string           `json:"broker"`           // version; empty 4.1.1
	Victim    string           `json:"victim_client_id"` // of the member with the fault
	Fault     string           `json:"fault"`
	Client    string           `json:"client"`
	Protocol  string           `json:"protocol"` // classic or consumer
	Assignor  *string          `json:"assignor"`
	Static    bool             `json:"static"`
	IdleTopic bool             `json:"idle_topic"`
	Commit    string           `json:"commit"`
	Truth     inspect.Cause    `json:"truth"`
	Returned  inspect.Returned `json:"returned"`
	FaultAt   int64            `json:"fault_at_ms"`
	// Departures are those that the coordinator's log has after the fault.
	Departures []Departure `json:"departures"`
	Records    []record    `json:"records"`
	// The broker's settings of a KIP-848 group; 0 where they are the laboratory's.
	SessionMS   int64 `json:"session_ms"`
	HeartbeatMS int64 `json:"heartbeat_ms"`
	// Unreachable is why no record tells the truth; empty where some may.
	Unreachable string `json:"unreachable"`

	// What no record tells, in files since the fourth hold-out.
	Observations []inspect.Observation `json:"observations"` // polls every 250 ms
	OffsetsAt    []inspect.OffsetAt    `json:"offsets_at"`   // at the departures, and at the last commits before
	Appended     []Appended            `json:"appended"`
}

// Departure is what the coordinator's log says of one member that went.
type Departure struct {
	At     int64  `json:"at_ms"`
	Kind   string `json:"kind"` // expired, left, fenced, removed
	Member string `json:"member"`
}

// Appended are the timestamps of a partition's records: the first one's offset and
// time, and the milliseconds from each to the next.
type Appended struct {
	Partition int32   `json:"p"`
	Offset    int64   `json:"offset"`
	At        int64   `json:"at_ms"`
	Then      []int64 `json:"then"`
}

type record struct {
	T        int16
	Ts       int64
	P        int32
	O        int64
	V        int16
	Tomb     bool
	Tp       json.RawMessage
	Off, Cts int64
	Le       int32
	Md       string
	Gen      int32
	Pt       string
	Proto    *string
	Leader   *string
	Cst      int64
	Ms       []member
	Ep, Aep  int32
	Pep      int32
	M        string
	Cid      string
	Host     string
	Inst     *string
	Rt       int64
	Sub      []string
	Rx       string
	State    int8
	Asg, Rev []int32
}

type member struct {
	ID, Cid, Host string
	Inst          *string
	Rt, St        int64
	Asg           []string
	Subscription  []byte // of the hold-outs alone: it tells the client library
}

// Right reports whether a cause is the truth: a static member that came back within its
// session is allowed to be a restart of either name.
func Right(said, truth inspect.Cause) bool {
	return said == truth || said == inspect.StaticMemberRestarted && truth == inspect.RestartedWithinSession
}

// ReadFile reads a compressed file of groups.
func ReadFile(name string) ([]Group, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	zr, err := gzip.NewReader(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	out, err := read(zr)
	if err != nil {
		return nil, fmt.Errorf("%s: line %d: %w", name, len(out)+1, err)
	}
	return out, nil
}

func read(r io.Reader) ([]Group, error) {
	var out []Group
	sc := bufio.NewScanner(r)
	sc.Buffer(nil, 1<<24)
	for sc.Scan() {
		var g Group
		if err := json.Unmarshal(sc.Bytes(), &g); err != nil {
			return out, err
		}
		g.Victim = cmp.Or(g.Victim, "victim")
		out = append(out, g)
	}
	return out, sc.Err()
}

// The broker's settings in the runs before the hold-outs, which describe and history
// read from the group's configuration: a KIP-848 session is on no record.
const (
	labSession   = 6 * time.Second
	labHeartbeat = 2 * time.Second
)

// Alone is the Case of the group's records alone, without what tells the client library
// of a classic member.
func (g Group) Alone() *inspect.Case {
	session, heartbeat := labSession, labHeartbeat
	if g.SessionMS > 0 {
		session = time.Duration(g.SessionMS) * time.Millisecond
	}
	if g.HeartbeatMS > 0 {
		heartbeat = time.Duration(g.HeartbeatMS) * time.Millisecond
	}
	c := &inspect.Case{Schema: inspect.CaseSchema, Groups: []inspect.Group{{ID: g.Group, Limits: inspect.Limits{
		Session: inspect.Ms(session), Heartbeat: inspect.Ms(heartbeat)}}}}
	for _, r := range g.Records {
		c.Records = append(c.Records, r.decoded(g.Group))
	}
	return c
}

// Read is the Case with all that kgdiag reads of the group's log.
func (g Group) Read() *inspect.Case {
	c := g.Alone()
	for i, r := range g.Records {
		if md := c.Records[i].Metadata; md != nil {
			for j := range md.Members {
				md.Members[j].Subscription = r.Ms[j].Subscription
			}
		}
	}
	return c
}

// Asked is Read with where the partitions were at the departures, as their leaders answered.
func (g Group) Asked() *inspect.Case {
	c := g.Read()
	c.OffsetsAt = g.OffsetsAt
	return c
}

// Watched is Asked with what polls saw.
func (g Group) Watched() *inspect.Case {
	c := g.Asked()
	c.Observations = g.Observations
	return c
}

// Answer gives what ListOffsets by timestamp answers to queries, from the timestamps of
// the records. A query from before the recording, or about a partition of which nothing
// is known, has no answer.
func (g Group) Answer(queries []inspect.OffsetQuery) []inspect.OffsetAt {
	var out []inspect.OffsetAt
	for _, q := range queries {
		if o, ok := g.answer(q); ok {
			out = append(out, o)
		}
	}
	return out
}

func (g Group) answer(q inspect.OffsetQuery) (inspect.OffsetAt, bool) {
	for _, a := range g.Appended {
		if a.Partition == q.Partition {
			return a.answer(q)
		}
	}
	for _, o := range g.OffsetsAt { // nothing was appended: it ended where it ends
		if o.Partition == q.Partition && o.Next.IsZero() {
			o.At = q.At
			return o, true
		}
	}
	return inspect.OffsetAt{}, false
}

func (a Appended) answer(q inspect.OffsetQuery) (inspect.OffsetAt, bool) {
	times := append(make([]int64, 0, len(a.Then)+1), a.At)
	for _, d := range a.Then {
		times = append(times, times[len(times)-1]+d)
	}
	at := q.At.UnixMilli()
	i := sort.Search(len(times), func(i int) bool { return times[i] >= at })
	o := inspect.OffsetAt{Topic: q.Topic, Partition: q.Partition, At: q.At, Offset: a.Offset + int64(i), Asked: inspect.AtMillis(times[len(times)-1])}
	if i < len(times) {
		o.Next = inspect.AtMillis(times[i])
	}
	return o, i > 0 || a.Offset == 0
}

func splitTP(s string) (string, int32) {
	i := strings.LastIndexByte(s, '-')
	n, _ := strconv.ParseInt(s[i+1:], 10, 32)
	return s[:i], int32(n)
}

// decoded is the record as inspect/offsetlog decodes it.
func (r record) decoded(group string) inspect.Record {
	out := inspect.Record{Type: inspect.RecordType(r.T), Partition: r.P, Offset: r.O, Time: inspect.AtMillis(r.Ts),
		Version: r.V, Tombstone: r.Tomb, Group: group, Member: r.M}
	if r.Tomb {
		return out
	}
	host := func(h string) string { return strings.TrimPrefix(h, "/") }
	byTopicID := func(parts []int32) []inspect.TopicIDPartitions {
		if len(parts) == 0 {
			return nil
		}
		return []inspect.TopicIDPartitions{{TopicID: "an-id", Partitions: parts}}
	}
	switch r.T {
	case 1:
		var s string
		_ = json.Unmarshal(r.Tp, &s)
		out.Topic, out.TopicPartition = splitTP(s)
		out.Commit = &inspect.OffsetCommit{Offset: r.Off, LeaderEpoch: r.Le, Metadata: r.Md, Time: inspect.AtMillis(r.Cts)}
	case 2:
		g := &inspect.GroupMetadata{ProtocolType: r.Pt, Generation: r.Gen, Protocol: r.Proto, Leader: r.Leader, StateTime: inspect.AtMillis(r.Cst)}
		for _, m := range r.Ms {
			gm := inspect.GroupMember{MemberID: m.ID, InstanceID: m.Inst, ClientID: m.Cid, Host: host(m.Host),
				Rebalance: *inspect.Ms(time.Duration(m.Rt) * time.Millisecond), Session: *inspect.Ms(time.Duration(m.St) * time.Millisecond),
				SubscriptionVersion: -1, OwnedGeneration: -1}
			for _, a := range m.Asg {
				topic, p := splitTP(a)
				gm.Assigned = append(gm.Assigned, inspect.TopicPartitions{Topic: topic, Partitions: []int32{p}})
			}
			g.Members = append(g.Members, gm)
		}
		out.Metadata = g
	case 3:
		out.Epoch = &inspect.GroupEpoch{Epoch: r.Ep}
	case 5:
		out.MemberOf = &inspect.MemberMetadata{InstanceID: r.Inst, ClientID: r.Cid, Host: host(r.Host), Topics: r.Sub, Regex: r.Rx,
			Rebalance: inspect.Ms(time.Duration(r.Rt) * time.Millisecond)}
	case 6:
		out.Target = &inspect.TargetMetadata{Epoch: r.Aep}
	case 7:
		var parts []int32
		_ = json.Unmarshal(r.Tp, &parts)
		out.TargetFor = &inspect.Tasks{Active: byTopicID(parts)}
	case 8:
		out.Current = &inspect.CurrentAssignment{Epoch: r.Ep, PreviousEpoch: r.Pep, State: r.State,
			Assigned: inspect.Tasks{Active: byTopicID(r.Asg)}, Revoking: inspect.Tasks{Active: byTopicID(r.Rev)}}
	}
	return out
}
