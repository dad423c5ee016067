package inspect

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"reflect"
	"strings"
	"testing"
	"time"
)

// sampleCase holds a bit of everything that names somebody.
func sampleCase() *Case {
	at := At(time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC))
	instance := "pod-secretive-0"
	leader := "consumer-orders-1-0b9c"
	return &Case{Schema: CaseSchema, Kgdiag: "v0.1.0", GeneratedAt: at,
		Cluster: Cluster{ID: "Zk3xQ9", Context: "prod-eu", Bootstrap: "kafka-1.bank.example:9092", Brokers: 3, OffsetsPartitions: 50},
		Window:  Window{From: at, To: at},
		Gaps:    []Gap{{Group: "orders", Fact: FactLag, What: "lag of orders", Why: "broker kafka-1.bank.example did not answer", Needs: ""}},
		Groups: []Group{{ID: "orders", Type: Classic, State: "Stable", Coordinator: &BrokerRef{ID: 1, Host: "kafka-1.bank.example", Port: 9092},
			Members: []Member{{MemberID: "consumer-orders-1-0b9c", ClientID: "consumer-orders-1", Host: "10.42.7.20", InstanceID: &instance}}}},
		Brokers: []Broker{{BrokerRef: BrokerRef{ID: 1, Host: "kafka-1.bank.example", Port: 9092, Rack: "fra-1"}}},
		Records: []Record{{Type: RecGroupMetadata, Partition: 31, Offset: 7, Time: at, Group: "orders", Metadata: &GroupMetadata{ProtocolType: "consumer",
			Generation: 3, Leader: &leader, Members: []GroupMember{{MemberID: "consumer-orders-1-0b9c", ClientID: "consumer-orders-1", Host: "10.42.7.20",
				Subscription: []byte("10.42.7.20"), Session: Millis(45 * time.Second)}, {MemberID: "rdkafka-77", ClientID: "rdkafka", Host: "10.42.7.21"}}}},
			{Type: RecOffsetCommit, Partition: 31, Offset: 8, Time: at, Group: "orders", Topic: "orders", Commit: &OffsetCommit{Offset: 1 << 53, Metadata: "by 10.42.7.20"}}},
		LogEvents: []LogEvent{{Time: at, Kind: LogLeft, Group: "orders", ClientID: "consumer-orders-1", Text: "Member consumer-orders-1-0b9c at 10.42.7.20 left orders"}},
		Declared:  Declared{BatchTimes: map[string]Millis{"orders": Millis(time.Minute)}},
	}
}

func TestCaseRoundTrip(t *testing.T) {
	var b bytes.Buffer
	want := sampleCase()
	if err := WriteCase(&b, want); err != nil {
		t.Fatal(err)
	}
	got, err := ReadCase(&b)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("read %+v\nwant %+v", got, want)
	}
}

func zipped(s string) string {
	var b bytes.Buffer
	zw := gzip.NewWriter(&b)
	_, _ = io.WriteString(zw, s)
	_ = zw.Close()
	return b.String()
}

func TestCaseErrorsSayWhatIsWrong(t *testing.T) {
	whole := zipped(`{"schema":"kgdiag.case/v1","cluster":{}}`)
	for _, c := range []struct{ name, in, want string }{
		{"empty", "", "empty"},
		{"text", "hello", "not a case file"},
		{"cut", whole[:len(whole)-12], "damaged"},
		{"flipped", whole[:len(whole)-6] + "xxxxxx", "damaged"},
		{"newer", zipped(`{"schema":"kgdiag.case/v9"}`), "newer kgdiag"},
		{"result", `{"schema":"kgdiag.why/v1"}`, "a result, not a case"},
		{"other", `{"a":1}`, "no case file"},
		{"wrong type", `{"schema":"kgdiag.case/v1","records":[{"offset":"x"}]}`, "field records.offset"},
		{"two documents", zipped(`{"schema":"kgdiag.case/v1"}{}`), "follows"},
		{"bad time", `{"schema":"kgdiag.case/v1","generated_at":"yesterday"}`, "RFC 3339"},
	} {
		_, err := ReadCase(strings.NewReader(c.in))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}

func TestRedactHidesNamesAndKeepsTheStory(t *testing.T) {
	red, err := Redact(sampleCase())
	if err != nil {
		t.Fatal(err)
	}
	b, err := json.Marshal(red)
	if err != nil {
		t.Fatal(err)
	}
	text := strings.ReplaceAll(string(b), `"topic":"orders"`, "")
	for _, secret := range []string{"bank.example", "10.42.7.20", "10.42.7.21", "secretive", "prod-eu", "fra-1", "orders"} {
		if strings.Contains(text, secret) {
			t.Errorf("%q is still there: %s", secret, text)
		}
	}
	g := red.Records[0].Metadata
	if red.Groups[0].ID != red.Records[0].Group || red.Groups[0].Members[0].ClientID != g.Members[0].ClientID || red.LogEvents[0].ClientID != g.Members[0].ClientID {
		t.Error("one name got several replacements")
	}
	if want := "consumer-" + red.Groups[0].ID + "-1"; g.Members[0].ClientID != want {
		t.Errorf("Java's own client id became %q, want %q", g.Members[0].ClientID, want)
	}
	if !strings.HasPrefix(g.Members[0].MemberID, g.Members[0].ClientID) || *g.Leader != g.Members[0].MemberID {
		t.Errorf("member ids do not agree: %q, leader %q", g.Members[0].MemberID, *g.Leader)
	}
	if g.Members[1].ClientID != "rdkafka" || g.Members[0].Subscription != nil {
		t.Errorf("client id %q, subscription %q", g.Members[1].ClientID, g.Members[0].Subscription)
	}
	if red.Records[1].Commit.Offset != 1<<53 || red.Records[1].Topic != "orders" || red.Groups[0].State != "Stable" {
		t.Error("offsets, topics or states were touched")
	}
}

// TestRedactLeavesTimesAlone: a group may be called by a number that stands in every time.
func TestRedactLeavesTimesAlone(t *testing.T) {
	c := sampleCase()
	for _, id := range []string{"2026", "11", "30"} {
		c.Groups = append(c.Groups, Group{ID: id, Sources: []Source{{Fact: FactState, From: "coordinator of " + id, At: c.GeneratedAt}}})
		c.Observations = append(c.Observations, Observation{Group: id, From: c.GeneratedAt, To: c.GeneratedAt, State: "Stable", Error: "broker kafka-1.bank.example did not answer"})
	}
	red, err := Redact(c)
	if err != nil {
		t.Fatal(err)
	}
	if red.Window != c.Window || red.Observations[0].From != c.GeneratedAt {
		t.Errorf("window %v, seen from %v", red.Window, red.Observations[0].From)
	}
	if from := red.Groups[1].Sources[0].From; from == c.Groups[1].Sources[0].From {
		t.Errorf("source %q still has its name", from)
	}
	if o := red.Observations[0]; o.Group != red.Groups[1].ID || strings.Contains(o.Error, "bank.example") {
		t.Errorf("%+v, want group %q and no host", o, red.Groups[1].ID)
	}
}

func FuzzReadCase(f *testing.F) {
	var b bytes.Buffer
	if err := WriteCase(&b, sampleCase()); err != nil {
		f.Fatal(err)
	}
	f.Add(b.Bytes())
	f.Add([]byte(`{"schema":"kgdiag.case/v1","groups":[{"group":"g"}],"records":[{}]}`))
	f.Add([]byte{0x1f, 0x8b, 8})
	f.Fuzz(func(t *testing.T, in []byte) {
		c, err := ReadCase(bytes.NewReader(in))
		if err != nil {
			return
		}
		if _, err := Redact(c); err != nil {
			t.Errorf("a case that was read cannot be redacted: %v", err)
		}
		var out bytes.Buffer
		if err := WriteCase(&out, c); err != nil {
			t.Errorf("a case that was read cannot be written: %v", err)
		}
	})
}
