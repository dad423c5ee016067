package family

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/kgdiag/kgdiag/inspect"
	"github.com/kgdiag/kgdiag/internal/pattern"
	"github.com/kgdiag/kgdiag/internal/prose"
)

// Evidence is what a member shows of the library that it runs on. Every field may
// be missing; the more is there, the surer is the guess.
type Evidence struct {
	Group        string
	Type         inspect.GroupType // protocol of the member; UnknownType counts as classic
	ProtocolType string            // "consumer", "connect", …
	Protocol     string            // selected assignor; "" unknown
	Assignors    []string          // the member's list, where a record holds it
	ClientID     string
	MemberID     string
	InstanceID   *string
	Subscription []byte // member metadata as it is on the wire; nil unknown
	Session      *inspect.Millis
	Rebalance    *inspect.Millis
}

// OfMember is the Evidence of one member of a GroupMetadata record (type 2).
func OfMember(group string, md *inspect.GroupMetadata, m *inspect.GroupMember) Evidence {
	e := Evidence{Group: group, Type: inspect.Classic, ProtocolType: md.ProtocolType, ClientID: m.ClientID,
		MemberID: m.MemberID, InstanceID: m.InstanceID, Subscription: m.Subscription, Session: &m.Session, Rebalance: &m.Rebalance}
	if md.Protocol != nil {
		e.Protocol = *md.Protocol
	}
	return e
}

// Guess names the client library of a member, with how sure that is and why.
//
// The order of the signs: words of the protocol that only one library uses (high);
// the bytes of the subscription, which no user sets, and which rule libraries out;
// the default client id, which a user can set but hardly to the name of another
// library; default timeouts, which prove little. High means that nothing else is
// known to look like this; medium, that it is the likeliest; low, a hint at most.
func Guess(e Evidence) inspect.ClientGuess {
	if g, ok := byProtocol(e); ok {
		return g
	}
	if e.Type == inspect.Consumer || e.Type == inspect.Share {
		return serverSide(e)
	}
	return classic(e)
}

// guess makes a ClientGuess.
func guess(f inspect.Family, c inspect.Confidence, format string, args ...any) inspect.ClientGuess {
	return inspect.ClientGuess{Family: f, Confidence: c, Why: fmt.Sprintf(format, args...)}
}

// byProtocol decides where protocol type, group type or assignor leave no choice.
func byProtocol(e Evidence) (inspect.ClientGuess, bool) {
	names := append([]string{e.Protocol}, e.Assignors...)
	switch {
	case e.ProtocolType == "connect":
		return guess(inspect.Connect, inspect.High, "protocol type connect"), true
	case e.Type == inspect.Streams:
		return guess(inspect.StreamsLib, inspect.High, "streams group (KIP-1071)"), true
	case slices.Contains(names, "stream"):
		return guess(inspect.StreamsLib, inspect.High, "assignor stream"), true
	case slices.Contains(names, "RoundRobinAssigner"):
		return guess(inspect.KafkaJS, inspect.High, "assignor RoundRobinAssigner"), true
	case e.ProtocolType != "" && e.ProtocolType != "consumer" && e.ProtocolType != "share":
		return guess(inspect.Unknown, inspect.Low, "protocol type %s", e.ProtocolType), true
	}
	return inspect.ClientGuess{}, false
}

var (
	javaNumbered  = pattern.New(`^consumer-(.*-)?\d+$`)
	streamsThread = pattern.New(`-StreamThread-\d+-(restore-)?consumer$`)
	kafkaPythonID = pattern.New(`^kafka-python-\d`)
	aiokafkaID    = pattern.New(`^aiokafka-\d`)
	connectorTask = pattern.New(`^connector-consumer-.*-\d+$`)
)

// idSign is what a default client id says, and how it reads.
func idSign(e Evidence) (f inspect.Family, why string) {
	id := e.ClientID
	switch {
	case streamsThread.MatchString(id):
		return inspect.StreamsLib, "client id names a StreamThread"
	case id == "rdkafka":
		return inspect.Librdkafka, "client id rdkafka is librdkafka's default"
	case id == "sarama":
		return inspect.Sarama, "client id sarama is its default"
	case id == "kgo":
		return inspect.FranzGo, "client id kgo is franz-go's default"
	case id == "kafkajs":
		return inspect.KafkaJS, "client id kafkajs is its default"
	case strings.HasSuffix(id, "(github.com/segmentio/kafka-go)"):
		return inspect.KafkaGo, "client id names kafka-go"
	case kafkaPythonID.MatchString(id):
		return inspect.KafkaPython, "client id names kafka-python"
	case aiokafkaID.MatchString(id):
		return inspect.AIOKafka, "client id names aiokafka"
	case connectorTask.MatchString(id):
		return inspect.Java, "client id names a Connect sink task"
	case javaNumbered.MatchString(id):
		return inspect.Java, "client id has the form of the Java client's default"
	case id == "console-consumer" || id == "console-share-consumer":
		return inspect.Java, "client id of Kafka's own console consumer"
	}
	return inspect.Unknown, ""
}

// serverSide guesses for the protocols in which the client makes its member id
// itself (KIP-848 from Kafka 4.0, KIP-932): 16 random bytes in base64. franz-go
// pads them, librdkafka uses the standard alphabet, Java the one for URLs, as do
// the ids that brokers up to 3.9 made for everybody.
func serverSide(e Evidence) inspect.ClientGuess {
	f, why := idSign(e)
	id := e.MemberID
	switch {
	case len(id) == 24 && strings.HasSuffix(id, "=="):
		return agree(inspect.FranzGo, inspect.High, "member id is padded base64", f, why)
	case len(id) == 22 && strings.ContainsAny(id, "+/"):
		return agree(inspect.Librdkafka, inspect.High, "member id is base64 in the standard alphabet", f, why)
	case len(id) == 22 && strings.ContainsAny(id, "-_"):
		return agree(inspect.Java, inspect.Medium, "member id is base64 in the alphabet for URLs", f, why)
	case f != inspect.Unknown:
		return guess(f, inspect.High, "%s", why)
	case len(id) == 22:
		return guess(inspect.Java, inspect.Low, "member id is base64, of Java or librdkafka")
	}
	return guess(inspect.Unknown, inspect.Low, "client id and member id tell nothing")
}

// agree joins a sign of the wire with the client id: the two together are sure, and
// where they differ the client id was set by a user.
func agree(f inspect.Family, c inspect.Confidence, sign string, byID inspect.Family, why string) inspect.ClientGuess {
	switch byID {
	case inspect.Unknown:
		return guess(f, c, "%s", sign)
	case f:
		return guess(f, inspect.High, "%s; %s", why, sign)
	}
	if c != inspect.High { // neither alone is sure
		return guess(byID, inspect.Medium, "%s, though %s", why, sign)
	}
	return guess(f, inspect.Medium, "%s, though %s", sign, why)
}

// library is what is known of one library's classic members.
type library struct {
	family inspect.Family
	// fits reports whether its members can write such a subscription.
	fits func(s subscription) bool
	// only is a form that nothing else is known to write; nil for none.
	only    func(s subscription) string
	session []time.Duration // defaults over the releases (facts D1, D2)
	// since is the subscription version of the first release with the first of these
	// defaults: Java and librdkafka had left v0 before they came to 45 s.
	since int16
	// rebalance is the default rebalance timeout; 0 where it equals the session.
	rebalance time.Duration
	assignors []string // names that it can select
}

// usual are the assignors that most libraries have.
var usual = []string{"range", "roundrobin", "sticky", "cooperative-sticky"}

// libraries are ordered so that, where nothing tells two apart, the more widely
// used comes first. What they write was recorded from real clients (testdata).
var libraries = []library{
	{inspect.Java, javaFits, javaOnly, seconds(45, 10, 30), 1, 300 * time.Second, nil},
	{inspect.Librdkafka, librdkafkaFits, librdkafkaOnly, seconds(45, 10, 30), 1, 300 * time.Second, []string{"range", "roundrobin", "cooperative-sticky"}},
	{inspect.Sarama, saramaFits, nil, seconds(10), 0, 60 * time.Second, []string{"range", "roundrobin", "sticky"}},
	{inspect.FranzGo, franzFits, franzOnly, seconds(45), 0, 60 * time.Second, usual},
	{inspect.KafkaPython, plainFits, nil, seconds(45, 10, 30), 0, 300 * time.Second, usual},
	{inspect.KafkaGo, func(s subscription) bool { return s.cut }, func(s subscription) string {
		if s.cut {
			return "subscription v1 ends before its owned partitions"
		}
		return ""
	}, seconds(30), 0, 30 * time.Second, []string{"range", "roundrobin", "rack-affinity"}},
	{inspect.AIOKafka, plainFits, nil, seconds(10), 0, 0, []string{"range", "roundrobin", "sticky"}},
	{inspect.KafkaJS, plainFits, nil, seconds(30), 0, 60 * time.Second, nil},
}

// seconds makes durations.
func seconds(n ...int) []time.Duration {
	out := make([]time.Duration, len(n))
	for i, s := range n {
		out[i] = time.Duration(s) * time.Second
	}
	return out
}

// javaFits: v0 with empty user data up to 2.3, v1 from 2.4, v3 from 3.4, null user
// data of the assignors without state since, and a rack only where client.rack is set.
func javaFits(s subscription) bool {
	if s.version >= 1 && (s.assignor == "range" || s.assignor == "roundrobin") && s.userData != nil {
		return false
	}
	return !s.cut && s.version != 2 && (s.rack == nil || *s.rack != "")
}

// javaOnly: the user data of Java's cooperative-sticky is one generation.
func javaOnly(s subscription) string {
	if s.version >= 1 && s.assignor == "cooperative-sticky" && (s.rack == nil || *s.rack != "") && len(s.userData) == 4 && string(s.userData) != "\x00\x00\x00\x00" {
		return "user data of Java's cooperative-sticky assignor"
	}
	return ""
}

// librdkafkaFits: from v3 on it always writes a rack, empty by default.
func librdkafkaFits(s subscription) bool {
	return !s.cut && (s.version < 3 || s.rack != nil)
}

// librdkafkaOnly: nobody else writes an empty rack.
func librdkafkaOnly(s subscription) string {
	if s.version >= 3 && s.rack != nil && *s.rack == "" {
		return "subscription v3 with an empty rack"
	}
	return ""
}

// saramaFits: v0 to v2, by the configured broker version; user data null, or the
// sticky assignor's.
func saramaFits(s subscription) bool {
	return !s.cut && s.version <= 2 && (s.userData == nil || len(s.userData) > 0)
}

// franzFits: v3 in recent releases, v0 to v2 before; a rack only where it is set.
func franzFits(s subscription) bool {
	return !s.cut && (s.rack == nil || *s.rack != "")
}

// franzOnly: its cooperative-sticky writes the whole sticky state, and an empty
// list of topics at first; librdkafka's does so too, but always with a rack.
func franzOnly(s subscription) string {
	if s.version >= 3 && s.assignor == "cooperative-sticky" && s.rack == nil &&
		(string(s.userData) == "\x00\x00\x00\x00" || len(s.userData) >= 8) {
		return "user data of franz-go's cooperative-sticky balancer"
	}
	return ""
}

// plainFits: v0 with user data that is there but empty, or the sticky assignor's.
func plainFits(s subscription) bool { return !s.cut && s.version == 0 && s.userData != nil }

// classic guesses for members of classic groups.
func classic(e Evidence) inspect.ClientGuess {
	byID, why := idSign(e)
	if byID == inspect.StreamsLib {
		return guess(inspect.StreamsLib, inspect.High, "%s", why)
	}
	s, known := readSubscription(e.Subscription)
	s.assignor = e.Protocol
	candidates := libraries
	if known {
		for _, l := range libraries {
			if l.only == nil {
				continue
			}
			if sign := l.only(s); sign != "" {
				return agree(l.family, inspect.High, sign, byID, why)
			}
		}
		candidates = fitting(libraries, func(l library) bool { return l.fits(s) })
	}
	candidates = fitting(candidates, func(l library) bool { return l.selects(e.Protocol) })
	if byID != inspect.Unknown {
		fits := slices.ContainsFunc(candidates, func(l library) bool { return l.family == byID })
		if !fits {
			return guess(byID, inspect.Low, "%s, but its subscription is not of that library's form", why)
		}
		return guess(byID, inspect.High, "%s", why)
	}
	if !known {
		return byTimeouts(e, candidates, nil)
	}
	return byTimeouts(e, candidates, &s)
}

// fitting are the libraries that satisfy f; all where none does.
func fitting(list []library, f func(library) bool) []library {
	var out []library
	for _, l := range list {
		if f(l) {
			out = append(out, l)
		}
	}
	if len(out) == 0 {
		return list
	}
	return out
}

// selects reports whether a group of this library can have selected the assignor;
// Java's and kafkajs's are open to plug-ins.
func (l library) selects(assignor string) bool {
	return assignor == "" || l.assignors == nil || slices.Contains(l.assignors, assignor)
}

// defaults reports whether the timeouts are the library's defaults.
func (l library) defaults(s *subscription, session, rebalance time.Duration) bool {
	if s != nil && s.version < l.since && session == l.session[0] {
		return false
	}
	want := l.rebalance
	if want == 0 {
		want = session
	}
	return slices.Contains(l.session, session) && rebalance == want
}

// byTimeouts chooses among libraries that the subscription does not tell apart.
func byTimeouts(e Evidence, candidates []library, s *subscription) inspect.ClientGuess {
	known := s != nil
	basis := "form of the subscription"
	if !known {
		basis = "client id not a default"
	}
	if len(candidates) == 1 {
		return guess(candidates[0].family, inspect.Medium, "%s", basis)
	}
	if e.Session == nil || e.Rebalance == nil {
		if known && len(candidates) < len(libraries) {
			return guess(candidates[0].family, inspect.Low, "%s, of %s", basis, names(candidates))
		}
		return guess(inspect.Unknown, inspect.Low, "%s, timeouts not read", basis)
	}
	session, rebalance := e.Session.Duration(), e.Rebalance.Duration()
	var match, rebalances []library
	for _, l := range candidates {
		if l.defaults(s, session, rebalance) {
			match = append(match, l)
		}
		if l.rebalance == rebalance || l.rebalance == 0 && session == rebalance {
			rebalances = append(rebalances, l)
		}
	}
	pair := fmt.Sprintf("timeouts %s and %s are its defaults", prose.Exact(session), prose.Exact(rebalance))
	switch {
	case len(match) == 1:
		return guess(match[0].family, inspect.Medium, "%s, and %s", basis, pair)
	case len(match) > 1 && known:
		return guess(match[0].family, inspect.Low, "%s and timeouts %s and %s, of %s", basis, prose.Exact(session), prose.Exact(rebalance), names(match))
	case len(match) == 0 && known && len(rebalances) == 1:
		if rebalances[0].family != candidates[0].family {
			// Who has set a session timeout may have set this one too, to a round value, and
			// then the more widely used library is as likely.
			return guess(rebalances[0].family, inspect.Low, "%s, of %s; rebalance timeout %s is its default", basis, names(candidates), prose.Exact(rebalance))
		}
		return guess(rebalances[0].family, inspect.Medium, "%s, and rebalance timeout %s is its default", basis, prose.Exact(rebalance))
	case len(match) == 0 && known && len(candidates) < len(libraries):
		return guess(candidates[0].family, inspect.Low, "%s, of %s", basis, names(candidates))
	}
	return guess(inspect.Unknown, inspect.Low, "%s, timeouts %s and %s", basis, prose.Exact(session), prose.Exact(rebalance))
}

// names lists libraries as "a, b or c".
func names(list []library) string {
	out := make([]string, len(list))
	for i, l := range list {
		out[i] = string(l.family)
	}
	if len(out) < 2 {
		return strings.Join(out, "")
	}
	return strings.Join(out[:len(out)-1], ", ") + " or " + out[len(out)-1]
}
