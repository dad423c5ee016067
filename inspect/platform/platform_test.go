package platform

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/kgdiag/kgdiag/inspect"
)

// at is a moment of the day of the files in testdata, which scripts/lab/pods wrote with
// the Kubernetes API's own types for a fate at 07:12:05.
func at(clock string) time.Time {
	t, err := time.Parse(time.RFC3339, "2026-11-30T"+clock+"Z")
	if err != nil {
		panic(err)
	}
	return t
}

func lives(t *testing.T, files ...string) []inspect.ProcessLife {
	t.Helper()
	var b Book
	for _, f := range files {
		data, err := os.ReadFile(filepath.Join("testdata", f))
		if err != nil {
			t.Fatal(err)
		}
		if err := b.Add(f, data); err != nil {
			t.Fatal(err)
		}
	}
	return b.Lives()
}

// TestFates: what each fate says of a member of the pod that was silent from 07:12:04
// and out at the given time, with a session of 10 s.
func TestFates(t *testing.T) {
	inPod := Member{ClientID: "consumer-orders-1", Host: "10.42.7.22"}
	byName := Member{ClientID: "orders-7f9c5d8b6f-x2mzq-consumer", Host: "192.0.2.13"}
	for _, tc := range []struct {
		fate     string
		member   Member
		from, to string
		cause    inspect.Cause
		end      inspect.ProcessEnd
		text     string
	}{
		{"oom", inPod, "07:12:15", "07:12:16", inspect.SessionExpired, inspect.EndOOMKilled,
			"pod orders-7f9c5d8b6f-x2mzq was OOMKilled at 07:12:05, 10 to 11 s before the member was out: its session of 10 s ended without a heartbeat"},
		{"evicted", inPod, "07:12:16", "07:12:17", inspect.SessionExpired, inspect.EndEvicted,
			"pod orders-7f9c5d8b6f-x2mzq was evicted from its node at 07:12:07, 9 to 10 s before the member was out: its session of 10 s ended without a heartbeat"},
		{"liveness", inPod, "07:12:06", "07:12:06", inspect.MemberLeft, inspect.EndProbe,
			"pod orders-7f9c5d8b6f-x2mzq was restarted after a failed probe at 07:12:06, as the member left"},
		{"rollout", byName, "07:12:05", "07:12:06", inspect.MemberLeft, inspect.EndStopped,
			"pod orders-7f9c5d8b6f-x2mzq was stopped at 07:12:05, as the member left"},
		{"lived-on", inPod, "07:12:15", "07:12:16", "", "",
			"pod orders-7f9c5d8b6f-x2mzq ran on from 05:12:05 past 07:12:16 without a restart: the process did not crash"},
	} {
		got, ok := Testify(lives(t, tc.fate+"-pods.json", tc.fate+"-events.json"),
			Absence{Member: tc.member, LastCommit: at("07:12:04"), From: at(tc.from), To: at(tc.to), Session: 10 * time.Second})
		if !ok || got.Cause != tc.cause || got.Life.End != tc.end || got.Text != tc.text {
			t.Errorf("%s: %v, cause %q, end %q, %q\nwant cause %q, end %q, %q", tc.fate, ok, got.Cause, got.Life.End, got.Text, tc.cause, tc.end, tc.text)
		}
	}
}

// TestNoTestimony: a list of another namespace's addresses, another time, or one that
// ends before the departure proves nothing.
func TestNoTestimony(t *testing.T) {
	silent := Absence{Member: Member{ClientID: "consumer-orders-1", Host: "10.42.7.22"}, LastCommit: at("07:12:04"), From: at("07:12:15"), To: at("07:12:16"), Session: 10 * time.Second}
	other := silent
	other.Host = "10.42.7.23"
	later := silent
	later.LastCommit, later.From, later.To = at("09:30:00"), at("09:30:10"), at("09:30:11")
	short := silent
	short.ClientID, short.Host = "orders-7f9c5d8b6f-x2mzq9", "192.0.2.13" // another pod, whose name begins alike
	for name, tc := range map[string]struct {
		a     Absence
		files []string
	}{
		"another address":                  {other, []string{"oom-pods.json"}},
		"another time, the list is older":  {later, []string{"lived-on-pods.json", "lived-on-events.json"}},
		"nothing shows that it lived on":   {silent, []string{"lived-on-pods.json"}},
		"a name that only begins alike":    {short, []string{"oom-pods.json"}},
		"rolled out, the address is gone":  {silent, []string{"rollout-pods.json", "rollout-events.json"}},
		"events of other objects say none": {silent, []string{"lived-on-events.json"}},
	} {
		if got, ok := Testify(lives(t, tc.files...), tc.a); ok {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// TestAnEndAtNoTimeThatFits: an OOM kill half a minute before a session of 10 s could
// end is said, and is no cause.
func TestAnEndAtNoTimeThatFits(t *testing.T) {
	got, ok := Testify(lives(t, "oom-pods.json"), Absence{Member: Member{Host: "10.42.7.22"}, LastCommit: at("07:12:04"), From: at("07:12:44"), To: at("07:12:45"), Session: 10 * time.Second})
	if !ok || got.Cause != "" || got.Text != "pod orders-7f9c5d8b6f-x2mzq was OOMKilled at 07:12:05, 39 to 40 s before the member was out" {
		t.Errorf("%v, cause %q, %q", ok, got.Cause, got.Text)
	}
}

// TestHostNetwork: pods on their node's address are told apart by name alone.
func TestHostNetwork(t *testing.T) {
	list := lives(t, "oom-pods.json")
	for i := range list {
		list[i].HostNet, list[i].Addresses = true, []string{"192.0.2.13"}
	}
	a := Absence{Member: Member{ClientID: "c", Host: "192.0.2.13"}, LastCommit: at("07:12:04"), From: at("07:12:15"), To: at("07:12:16"), Session: 10 * time.Second}
	if got, ok := Testify(list, a); ok {
		t.Errorf("by an address that is the node's: %+v", got)
	}
	a.InstanceID = "orders-7f9c5d8b6f-x2mzq"
	if got, ok := Testify(list, a); !ok || got.By != "name" || got.Cause != inspect.SessionExpired {
		t.Errorf("by name: %v %+v", ok, got)
	}
}

func TestDocker(t *testing.T) {
	const inspected = `[{"Id":"3f2a9c1d7e5b4a","Name":"/orders-worker","Config":{"Hostname":"3f2a9c1d7e5b","Env":["DB_PASSWORD=planted-secret"]},"HostConfig":{"NetworkMode":"shop"},
 "State":{"Running":false,"OOMKilled":true,"ExitCode":137,"StartedAt":"2026-11-30T06:00:00.1Z","FinishedAt":"2026-11-30T07:12:05.4Z"},
 "NetworkSettings":{"IPAddress":"","Networks":{"shop":{"IPAddress":"172.18.0.5"}}}}]`
	const events = `{"Type":"container","Action":"start","Actor":{"ID":"3f2a9c1d7e5b4a","Attributes":{"name":"orders-worker"}},"timeNano":1796018400000000000}
{"Type":"network","Action":"disconnect","Actor":{"ID":"n"},"timeNano":1796022724000000000}
{"Type":"container","Action":"kill","Actor":{"ID":"3f2a9c1d7e5b4a","Attributes":{"name":"orders-worker","signal":"15"}},"timeNano":1796022724000000000}
{"Type":"container","Action":"die","Actor":{"ID":"3f2a9c1d7e5b4a","Attributes":{"name":"orders-worker","exitCode":"143"}},"timeNano":1796022725000000000}
`
	a := Absence{Member: Member{ClientID: "rdkafka", Host: "172.18.0.5"}, LastCommit: at("07:12:04"), From: at("07:12:11"), To: at("07:12:12"), Session: 6 * time.Second}
	var b Book
	if err := b.Add("inspect.json", []byte(inspected)); err != nil {
		t.Fatal(err)
	}
	got, ok := Testify(b.Lives(), a)
	if want := "container orders-worker was OOMKilled at 07:12:05, 6 to 7 s before the member was out: its session of 6 s ended without a heartbeat"; !ok || got.Text != want {
		t.Errorf("inspect: %v %q\nwant %q", ok, got.Text, want)
	}
	var e Book
	if err := e.Add("events.json", []byte(events)); err != nil {
		t.Fatal(err)
	}
	a = Absence{Member: Member{ClientID: "orders-worker", Host: "172.18.0.5"}, LastCommit: at("07:12:04"), From: at("07:12:05"), To: at("07:12:05"), Session: 6 * time.Second}
	got, ok = Testify(e.Lives(), a)
	if !ok || got.Life.End != inspect.EndStopped || got.Cause != inspect.MemberLeft {
		t.Errorf("events: %v %+v", ok, got)
	}
}

// TestNothingSecretIsKept: what the files hold beside states is not read.
func TestNothingSecretIsKept(t *testing.T) {
	for _, l := range lives(t, "oom-pods.json", "oom-events.json") {
		for _, s := range append([]string{l.Name, l.Reason, l.Message, l.Hostname, l.Node, l.Container}, l.Addresses...) {
			if strings.Contains(s, "planted-secret") {
				t.Errorf("kept: %q", s)
			}
		}
	}
}

func TestForeignFiles(t *testing.T) {
	for text, want := range map[string]string{
		"":                                    "f: the file is empty: want the output of kubectl get pods -o json",
		"NAME READY STATUS\norders 1":         "f: neither pods, events, docker inspect nor docker events: want JSON: kubectl get pods -o json",
		`{"a": 1}`:                            "f: neither pods, events, docker inspect nor docker events: want kubectl get pods -o json, or docker inspect",
		`{"kind": "Deployment"}`:              "f: neither pods, events, docker inspect nor docker events: kind Deployment: want kubectl get pods -o json, or events",
		"{\"kind\": \"Pod\",\n oops}":         "f: line 2: not JSON: invalid character 'o' looking for beginning of object key string",
		`[{"Size": 3}]`:                       "f: [0]: neither pods, events, docker inspect nor docker events: want the output of docker inspect CONTAINER",
		`{"kind":"Pod","status":{"podIP":7}}`: "f: Status.PodIP: want another type than number: is this the output of kubectl get -o json?",
	} {
		var b Book
		if err := b.Add("f", []byte(text)); err == nil || err.Error() != want {
			t.Errorf("%q: %v\nwant %s", text, err, want)
		} else if len(b.Lives()) > 0 {
			t.Errorf("%q: lives are kept of a file with an error", text)
		}
	}
	var b Book
	if err := b.Add("f", []byte("{}")); !errors.Is(err, ErrForeign) {
		t.Errorf("{}: %v", err)
	}
}

func FuzzAdd(f *testing.F) {
	for _, name := range []string{"oom-pods.json", "evicted-pods.json", "rollout-events.json"} {
		data, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Add([]byte(`[{"Id":"1","State":{"ExitCode":1}}]`))
	f.Add([]byte(`{"Type":"container","Action":"die","Actor":{"ID":"1"},"timeNano":1}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		var b Book
		err := b.Add("f", data)
		lives := b.Lives()
		if err != nil && len(lives) > 0 {
			t.Fatalf("lives beside %v", err)
		}
		Testify(lives, Absence{Member: Member{ClientID: "c", Host: "10.42.7.22"}, From: at("07:12:15"), To: at("07:12:16"), Session: time.Second})
	})
}
