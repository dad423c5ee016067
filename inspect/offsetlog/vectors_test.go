package offsetlog

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/kgdiag/kgdiag/inspect"
)

// vector is a record made by Kafka's own generated classes (testdata/jvm/Vectors.java)
// with the JSON that Kafka's own converters give for it.
type vector struct {
	line       string
	typ        string // a record type, "sub" or "asg"
	version    int16
	key, value []byte
	keyJSON    js
	valueJSON  js
}

func jvmVectors(t testing.TB) []vector {
	t.Helper()
	files, err := filepath.Glob("testdata/jvm/vectors-*.tsv")
	if err != nil || len(files) == 0 {
		t.Fatalf("no vectors: %v", err)
	}
	var out []vector
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for i, line := range strings.Split(strings.TrimSpace(string(text)), "\n") {
			out = append(out, parseVector(t, fmt.Sprintf("%s:%d", filepath.Base(file), i+1), line))
		}
	}
	return out
}

func parseVector(t testing.TB, where, line string) vector {
	c := strings.Split(line, "\t")
	v := vector{line: where, typ: c[0], keyJSON: js{}, valueJSON: js{}}
	version, err := strconv.ParseInt(c[1], 10, 16)
	if err != nil {
		t.Fatalf("%s: %v", where, err)
	}
	v.version = int16(version)
	v.key, _ = hex.DecodeString(c[2])
	v.value, _ = hex.DecodeString(c[3])
	for text, into := range map[string]*js{c[4]: &v.keyJSON, c[5]: &v.valueJSON} {
		if text == "" {
			continue
		}
		d := json.NewDecoder(strings.NewReader(text))
		d.UseNumber()
		if err := d.Decode(into); err != nil {
			t.Fatalf("%s: %v", where, err)
		}
	}
	return v
}

// js is a JSON object of the JVM's, with accessors that take Kafka's defaults for
// what it leaves out.
type js map[string]any

func (j js) num(k string, def int64) int64 {
	if n, ok := j[k].(json.Number); ok {
		v, _ := n.Int64()
		return v
	}
	return def
}

func (j js) str(k string) string { s, _ := j[k].(string); return s }

func (j js) null(k string) *string {
	if s, ok := j[k].(string); ok {
		return &s
	}
	return nil
}

func (j js) bin(k string) []byte {
	b, _ := base64.StdEncoding.DecodeString(j.str(k))
	if len(b) == 0 {
		return nil
	}
	return b
}

func (j js) objs(k string) []js {
	out := []js{}
	list, _ := j[k].([]any)
	for _, x := range list {
		out = append(out, js(x.(map[string]any)))
	}
	return out
}

func (j js) strs(k string) []string {
	out := []string{}
	list, _ := j[k].([]any)
	for _, x := range list {
		out = append(out, x.(string))
	}
	return out
}

func (j js) ints(k string) []int32 {
	out := []int32{}
	list, _ := j[k].([]any)
	for _, x := range list {
		n, _ := x.(json.Number).Int64()
		out = append(out, int32(n))
	}
	return out
}

func (j js) time(k string) inspect.Time { return inspect.AtMillis(j.num(k, -1)) }

func (j js) millis(k string) *inspect.Millis {
	n := j.num(k, -1)
	if n < 0 {
		return nil
	}
	return inspect.Ms(time.Duration(n) * time.Millisecond)
}

func (j js) parts(k, id string) []inspect.TopicIDPartitions {
	out := []inspect.TopicIDPartitions{}
	for _, o := range j.objs(k) {
		out = append(out, inspect.TopicIDPartitions{TopicID: o.str(id), Partitions: o.ints("partitions")})
	}
	return out
}

func (j js) named(k, topic string) []inspect.TopicPartitions {
	out := []inspect.TopicPartitions{}
	for _, o := range j.objs(k) {
		out = append(out, inspect.TopicPartitions{Topic: o.str(topic), Partitions: o.ints("partitions")})
	}
	return out
}

func (j js) names(k, name string) []string {
	out := []string{}
	for _, o := range j.objs(k) {
		out = append(out, o.str(name))
	}
	return out
}

// TestDecodeAgreesWithKafka holds the decoders of all types and value versions to
// what Kafka's own classes say of the same bytes.
func TestDecodeAgreesWithKafka(t *testing.T) {
	seen := map[string]int{}
	for _, v := range jvmVectors(t) {
		if v.typ == "sub" || v.typ == "asg" {
			checkClientBytes(t, v)
			continue
		}
		got, err := Decode(v.key, v.value)
		if err != nil {
			t.Errorf("%s: %v", v.line, err)
			continue
		}
		seen[v.typ]++
		want := expected(v)
		gotJSON, _ := json.Marshal(got)
		wantJSON, _ := json.Marshal(want)
		if string(gotJSON) != string(wantJSON) {
			t.Errorf("%s:\n got %s\nwant %s", v.line, gotJSON, wantJSON)
		}
		tomb, err := Decode(v.key, nil)
		if err != nil || !tomb.Tombstone || tomb.Group != want.Group || tomb.Member != want.Member {
			t.Errorf("%s: tombstone %+v, %v", v.line, tomb, err)
		}
	}
	for typ := range inspect.RecordType(24) {
		if typ != 9 && typ != 18 && seen[strconv.Itoa(int(typ))] == 0 {
			t.Errorf("no vector of type %d", typ)
		}
		if Known(typ) != (typ != 9 && typ != 18) {
			t.Errorf("type %d: known is %v", typ, Known(typ))
		}
	}
}

// expected builds the record from the JVM's JSON alone.
func expected(v vector) inspect.Record {
	n, _ := strconv.Atoi(v.typ)
	k, j := v.keyJSON, v.valueJSON
	r := inspect.Record{Type: inspect.RecordType(n), Version: v.version, LeaderEpoch: -1}
	if r.Group = k.str("groupId"); r.Type <= 2 {
		r.Group = k.str("group")
	}
	r.Member, r.Topic, r.TopicPartition = k.str("memberId"), k.str("topic"), int32(k.num("partition", 0))
	r.Regex = k.str("regularExpression")
	switch r.Type {
	case 0, 1:
		r.Commit = &inspect.OffsetCommit{Offset: j.num("offset", 0), LeaderEpoch: int32(j.num("leaderEpoch", -1)), Metadata: j.str("metadata"),
			Time: j.time("commitTimestamp"), Expires: j.time("expireTimestamp"), TopicID: j.str("topicId")}
	case 2:
		r.Metadata = expectedGroup(v.version, j)
	case 3, 11:
		r.Epoch = &inspect.GroupEpoch{Epoch: int32(j.num("epoch", 0)), MetadataHash: j.num("metadataHash", 0)}
	case 17:
		r.Epoch = &inspect.GroupEpoch{Epoch: int32(j.num("epoch", 0)), MetadataHash: j.num("metadataHash", 0),
			ValidatedTopology: int32(j.num("validatedTopologyEpoch", -1))}
	case 4:
		r.Topics = []inspect.TopicMetadata{}
		for _, o := range j.objs("topics") {
			r.Topics = append(r.Topics, inspect.TopicMetadata{TopicID: o.str("topicId"), Topic: o.str("topicName"), Partitions: int32(o.num("numPartitions", 0))})
		}
	case 5, 10, 19:
		r.MemberOf = expectedMember(r.Type, j)
	case 6, 12, 20:
		r.Target = &inspect.TargetMetadata{Epoch: int32(j.num("assignmentEpoch", 0)), Time: j.time("assignmentTimestamp")}
	case 7, 13:
		r.TargetFor = &inspect.Tasks{Active: j.parts("topicPartitions", "topicId")}
	case 21:
		r.TargetFor = expectedTasks(j, "")
	case 8, 14, 22:
		r.Current = expectedCurrent(r.Type, j)
	case 15:
		r.ShareInit = &inspect.ShareStateTopics{Initializing: j.named("initializingTopics", "topicName"),
			Initialized: j.named("initializedTopics", "topicName"), Deleting: j.names("deletingTopics", "topicName")}
	case 16:
		r.Matched = &inspect.RegexTopics{Topics: j.strs("topics"), Version: j.num("version", 0), Time: j.time("timestamp")}
	case 23:
		r.Topology = &inspect.StreamsTopology{Epoch: int32(j.num("epoch", 0)), Subtopologies: []inspect.StreamsSubtopology{}}
		for _, o := range j.objs("subtopologies") {
			r.Topology.Subtopologies = append(r.Topology.Subtopologies, inspect.StreamsSubtopology{ID: o.str("subtopologyId"),
				SourceTopics: o.strs("sourceTopics"), SourceRegex: o.strs("sourceTopicRegex"),
				StateTopics: o.names("stateChangelogTopics", "name"), Repartition: o.names("repartitionSourceTopics", "name")})
		}
	}
	return r
}

func expectedGroup(version int16, j js) *inspect.GroupMetadata {
	g := &inspect.GroupMetadata{ProtocolType: j.str("protocolType"), Generation: int32(j.num("generation", 0)),
		Protocol: j.null("protocol"), Leader: j.null("leader"), StateTime: j.time("currentStateTimestamp"), Members: []inspect.GroupMember{}}
	for _, o := range j.objs("members") {
		m := inspect.GroupMember{MemberID: o.str("memberId"), InstanceID: o.null("groupInstanceId"), ClientID: o.str("clientId"),
			Host: strings.TrimPrefix(o.str("clientHost"), "/"), Session: *o.millis("sessionTimeout"),
			Subscription: o.bin("subscription"), Assignment: o.bin("assignment"), SubscriptionVersion: -1, OwnedGeneration: -1}
		if m.Rebalance = m.Session; version >= 1 {
			m.Rebalance = *o.millis("rebalanceTimeout")
		}
		g.Members = append(g.Members, m)
	}
	return g
}

func expectedMember(typ inspect.RecordType, j js) *inspect.MemberMetadata {
	m := &inspect.MemberMetadata{InstanceID: j.null("instanceId"), Rack: j.null("rackId"), ClientID: j.str("clientId"),
		Host: strings.TrimPrefix(j.str("clientHost"), "/"), Regex: j.str("subscribedTopicRegex"), Rebalance: j.millis("rebalanceTimeoutMs"),
		Assignor: j.null("serverAssignor"), ProcessID: j.str("processId")}
	if typ != inspect.RecStreamsMember {
		m.Topics = j.strs("subscribedTopicNames")
	}
	if c, ok := j["classicMemberMetadata"].(map[string]any); ok {
		m.Session, m.Assignors = js(c).millis("sessionTimeoutMs"), js(c).names("supportedProtocols", "name")
	}
	return m
}

func expectedTasks(j js, suffix string) *inspect.Tasks {
	return &inspect.Tasks{Active: j.parts("activeTasks"+suffix, "subtopologyId"), Standby: j.parts("standbyTasks"+suffix, "subtopologyId"),
		Warmup: j.parts("warmupTasks"+suffix, "subtopologyId")}
}

func expectedCurrent(typ inspect.RecordType, j js) *inspect.CurrentAssignment {
	c := &inspect.CurrentAssignment{Epoch: int32(j.num("memberEpoch", 0)), PreviousEpoch: int32(j.num("previousMemberEpoch", 0)), State: int8(j.num("state", 0))}
	switch typ {
	case inspect.RecStreamsCurrentAssignment:
		c.Assigned, c.Revoking = *expectedTasks(j, ""), *expectedTasks(j, "PendingRevocation")
	case inspect.RecConsumerCurrentAssignment:
		c.Revoking.Active = j.parts("partitionsPendingRevocation", "topicId")
		fallthrough
	default:
		c.Assigned.Active = j.parts("assignedPartitions", "topicId")
	}
	return c
}

// checkClientBytes compares the consumer protocol, which clients write into a
// classic member's subscription and assignment.
func checkClientBytes(t *testing.T, v vector) {
	t.Helper()
	if v.typ == "asg" {
		got, want := assignment(v.value, nil), v.valueJSON.named("assignedPartitions", "topic")
		if fmt.Sprintf("%#v", got) != fmt.Sprintf("%#v", want) {
			t.Errorf("%s: got %v, want %v", v.line, got, want)
		}
		return
	}
	m := inspect.GroupMember{Subscription: v.value, SubscriptionVersion: -1, OwnedGeneration: -1}
	subscription(&m, nil)
	generation := int32(v.valueJSON.num("generationId", -1))
	if fmt.Sprintf("%#v", m.Topics) != fmt.Sprintf("%#v", v.valueJSON.strs("topics")) || m.SubscriptionVersion != v.version || m.OwnedGeneration != generation {
		t.Errorf("%s: topics %q v%d generation %d, want %v", v.line, m.Topics, m.SubscriptionVersion, m.OwnedGeneration, v.valueJSON)
	}
}
