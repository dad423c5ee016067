package family

import (
	"bufio"
	"encoding/hex"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/kgdiag/kgdiag/inspect"
)

// recorded is one member of a real client.
type recorded struct {
	library string
	e       Evidence
	want    inspect.Family
}

// members reads the members that real clients showed on a real broker.
func members(t *testing.T) []recorded {
	t.Helper()
	f, err := os.Open("testdata/members.tsv")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var out []recorded
	for sc := bufio.NewScanner(f); sc.Scan(); {
		if strings.HasPrefix(sc.Text(), "#") {
			continue
		}
		c := strings.Split(sc.Text(), "\t")
		sub, err := hex.DecodeString(c[7])
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, recorded{c[0], Evidence{Group: "g", ProtocolType: "consumer", ClientID: c[1], MemberID: c[2], Type: inspect.GroupType(c[3]),
			Protocol: c[4], Session: ms(c[5]), Rebalance: ms(c[6]), Subscription: sub}, inspect.Family(c[8])})
	}
	if len(out) < 25 {
		t.Fatalf("only %d members in the table", len(out))
	}
	return out
}

func ms(s string) *inspect.Millis {
	n, err := strconv.Atoi(s)
	if err != nil {
		return nil
	}
	return inspect.Ms(time.Duration(n) * time.Millisecond)
}

func TestRealClients(t *testing.T) {
	for _, m := range members(t) {
		got := Guess(m.e)
		if got.Family != m.want || got.Why == "" {
			t.Errorf("%s as %q: guessed %s (%s: %s)", m.library, m.e.ClientID, got.Family, got.Confidence, got.Why)
		}
		if !strings.HasPrefix(m.e.ClientID, "orders-") && got.Confidence != inspect.High {
			t.Errorf("%s with its own client id %q: confidence %s (%s)", m.library, m.e.ClientID, got.Confidence, got.Why)
		}
	}
}

// Whatever is left out of what a member shows, a guess that is sure must be right.
func TestHighIsNeverWrong(t *testing.T) {
	hide := map[string]func(*Evidence){
		"client id": func(e *Evidence) {
			e.MemberID = strings.Replace(e.MemberID, e.ClientID, "orders-1", 1)
			e.ClientID = "orders-1"
		},
		"subscription": func(e *Evidence) { e.Subscription = nil },
		"timeouts":     func(e *Evidence) { e.Session, e.Rebalance = nil, nil },
		"own timeouts": func(e *Evidence) { e.Session, e.Rebalance = inspect.Ms(6*time.Second), inspect.Ms(9*time.Second) },
		"java's timeouts": func(e *Evidence) {
			e.Session, e.Rebalance = inspect.Ms(45*time.Second), inspect.Ms(300*time.Second)
		},
		"assignor": func(e *Evidence) { e.Protocol = "" },
	}
	for _, m := range members(t) {
		for a, f := range hide {
			for b, g := range hide {
				e := m.e
				f(&e)
				g(&e)
				got := Guess(e)
				if got.Confidence == inspect.High && got.Family != m.want {
					t.Errorf("%s without %s and %s: sure of %s (%s)", m.library, a, b, got.Family, got.Why)
				}
			}
		}
	}
}

// A client id can be set by anybody: where the bytes contradict it they win, and
// the guess is not sure.
func TestMisleadingClientID(t *testing.T) {
	for _, m := range members(t) {
		for _, id := range []string{"rdkafka", "sarama", "kgo", "kafkajs", "kafka-python-2.0.2", "aiokafka-0.14.0", "consumer-g-1"} {
			e := m.e
			e.ClientID = id
			got := Guess(e)
			if own, _ := idSign(e); own == m.want {
				continue
			}
			s, known := readSubscription(e.Subscription)
			s.assignor = e.Protocol
			if known && (librdkafkaOnly(s) != "" || s.cut || javaOnly(s) != "" || franzOnly(s) != "") &&
				(got.Family != m.want || got.Confidence == inspect.High) {
				t.Errorf("%s as %q: %s, %s (%s)", m.library, id, got.Family, got.Confidence, got.Why)
			}
		}
	}
}

func TestSigns(t *testing.T) {
	five, fortyFive := inspect.Ms(300*time.Second), inspect.Ms(45*time.Second)
	for name, tc := range map[string]struct {
		e    Evidence
		want inspect.Family
		conf inspect.Confidence
	}{
		"connect worker":           {Evidence{ProtocolType: "connect", ClientID: "connect-1"}, inspect.Connect, inspect.High},
		"connect sink":             {Evidence{ProtocolType: "consumer", ClientID: "connector-consumer-s3-sink-0"}, inspect.Java, inspect.High},
		"streams by assignor":      {Evidence{ProtocolType: "consumer", Protocol: "stream", ClientID: "x"}, inspect.StreamsLib, inspect.High},
		"streams by client id":     {Evidence{ProtocolType: "consumer", ClientID: "app-1f0c-StreamThread-1-consumer"}, inspect.StreamsLib, inspect.High},
		"streams group":            {Evidence{Type: inspect.Streams, ProtocolType: "streams", ClientID: "app"}, inspect.StreamsLib, inspect.High},
		"java default id":          {Evidence{ProtocolType: "consumer", ClientID: "consumer-orders-2"}, inspect.Java, inspect.High},
		"java 1.x default id":      {Evidence{ProtocolType: "consumer", ClientID: "consumer-2"}, inspect.Java, inspect.High},
		"nothing":                  {Evidence{}, inspect.Unknown, inspect.Low},
		"own id alone":             {Evidence{ProtocolType: "consumer", ClientID: "orders-1"}, inspect.Unknown, inspect.Low},
		"timeouts of many":         {Evidence{ProtocolType: "consumer", ClientID: "orders-1", Session: fortyFive, Rebalance: five}, inspect.Unknown, inspect.Low},
		"another embedding":        {Evidence{ProtocolType: "sr", ClientID: "schema-registry"}, inspect.Unknown, inspect.Low},
		"kip-848 without a sign":   {Evidence{Type: inspect.Consumer, ClientID: "orders-1", MemberID: "HzKOynWjTdisrNm9HtZeGA"}, inspect.Java, inspect.Low},
		"kip-848 url alphabet":     {Evidence{Type: inspect.Consumer, ClientID: "orders-1", MemberID: "EfV06e1uTQ-o49phu9pQVg"}, inspect.Java, inspect.Medium},
		"kip-848 id of somebody":   {Evidence{Type: inspect.Consumer, ClientID: "orders-1", MemberID: "orders-1"}, inspect.Unknown, inspect.Low},
		"malformed subscription":   {Evidence{ProtocolType: "consumer", ClientID: "orders-1", Subscription: []byte{0, 3, 0, 0}}, inspect.Unknown, inspect.Low},
		"subscription of own type": {Evidence{ProtocolType: "consumer", ClientID: "orders-1", Subscription: []byte("{}")}, inspect.Unknown, inspect.Low},
	} {
		got := Guess(tc.e)
		if got.Family != tc.want || got.Confidence != tc.conf || got.Why == "" {
			t.Errorf("%s: %s, %s (%s)", name, got.Family, got.Confidence, got.Why)
		}
	}
}

// The session is set more often than the rebalance timeout: the other's default still
// tells Java from franz-go, whose range subscriptions are alike byte for byte.
func TestRebalanceTimeoutAlone(t *testing.T) {
	sub, err := hex.DecodeString("000300000001000b636f6c6c6563742d7a6f6fffffffff00000000ffffffffffff")
	if err != nil {
		t.Fatal(err)
	}
	for rebalance, want := range map[time.Duration]inspect.ClientGuess{
		300 * time.Second: {Family: inspect.Java, Confidence: inspect.Medium},
		60 * time.Second:  {Family: inspect.FranzGo, Confidence: inspect.Low}, // or a Java consumer whose poll interval was set to a minute
		15 * time.Second:  {Family: inspect.Java, Confidence: inspect.Low},
	} {
		got := Guess(Evidence{ProtocolType: "consumer", Protocol: "range", ClientID: "orders-1", Subscription: sub,
			Session: inspect.Ms(6 * time.Second), Rebalance: inspect.Ms(rebalance)})
		if got.Family != want.Family || got.Confidence != want.Confidence {
			t.Errorf("%s: %+v", rebalance, got)
		}
	}
}

func TestEachLibraryIsSeen(t *testing.T) {
	seen := map[inspect.Family]bool{}
	for _, m := range members(t) {
		seen[m.want] = true
	}
	for _, l := range libraries {
		if !seen[l.family] {
			t.Errorf("no real member of %s in the table", l.family)
		}
	}
}

func FuzzGuess(f *testing.F) {
	sub, err := hex.DecodeString("000300000001000b636f6c6c6563742d7a6f6f00000004ffffffff00000000ffffffffffff")
	if err != nil {
		f.Fatal(err)
	}
	f.Add("orders-1", "orders-1-x", "cooperative-sticky", sub)
	f.Add("", "", "", []byte{0, 1, 0xff, 0xff, 0xff, 0xff})
	f.Add("", "", "range", []byte{0, 1, 0x7f, 0xff, 0xff, 0xff})
	f.Fuzz(func(t *testing.T, client, member, protocol string, sub []byte) {
		g := Guess(Evidence{ProtocolType: "consumer", ClientID: client, MemberID: member, Protocol: protocol, Subscription: sub})
		if g.Family == "" || g.Confidence == "" || g.Why == "" {
			t.Fatalf("incomplete guess %+v", g)
		}
	})
}
