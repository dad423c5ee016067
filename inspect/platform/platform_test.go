package platform

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
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
		if _, err := b.Add(f, data); err != nil {
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
			"pod orders-7f9c5d8b6f-x2mzq was OOMKilled at 07:12:05 UTC, 10s to 11s before the member was out: its session of 10s ended without a heartbeat"},
		{"evicted", inPod, "07:12:16", "07:12:17", inspect.SessionExpired, inspect.EndEvicted,
			"pod orders-7f9c5d8b6f-x2mzq was evicted from its node at 07:12:07 UTC, 9s to 10s before the member was out: its session of 10s ended without a heartbeat"},
		{"liveness", inPod, "07:12:06", "07:12:06", inspect.MemberLeft, inspect.EndProbe,
			"pod orders-7f9c5d8b6f-x2mzq was restarted after a failed probe at 07:12:06 UTC, as the member left"},
		{"rollout", byName, "07:12:06", "07:12:07", inspect.MemberLeft, inspect.EndStopped,
			"pod orders-7f9c5d8b6f-x2mzq was stopped at 07:12:06 UTC, as the member left"},
		{"lived-on", inPod, "07:12:15", "07:12:16", "", "",
			"pod orders-7f9c5d8b6f-x2mzq ran on from 29 Nov 05:12:05 UTC past 07:12:16 UTC without a restart: the process did not crash"},
	} {
		got := Testify(lives(t, tc.fate+"-pods.json", tc.fate+"-events.json"),
			Absence{Member: tc.member, LastCommit: at("07:12:04"), From: at(tc.from), To: at(tc.to), Session: 10 * time.Second})
		if got.Fate == "" || got.Cause != tc.cause || got.Life.End != tc.end || got.Text != tc.text {
			t.Errorf("%s: %s, cause %q, end %q, %q\nwant cause %q, end %q, %q", tc.fate, got.Fate, got.Cause, got.Life.End, got.Text, tc.cause, tc.end, tc.text)
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
	begun := silent
	begun.Host = "10.42.7.31"
	short := silent
	short.ClientID, short.Host = "orders-7f9c5d8b6f-x2mzq9", "192.0.2.13" // another pod, whose name begins alike
	for name, tc := range map[string]struct {
		a     Absence
		files []string
		says  string
	}{
		"another address": {other, []string{"oom-pods.json"},
			"nothing in the files (--pods) has its address 10.42.7.23 or a name in its client or instance id: they may be of another namespace or another time"},
		"another time, the list is older": {later, []string{"lived-on-pods.json", "lived-on-events.json"},
			"pod orders-7f9c5d8b6f-x2mzq runs since 29 Nov 05:12:05 UTC, but nothing in the files is newer than 07:22:05 UTC: with kubectl get events -o json, or docker events, they may show that it lived on"},
		"nothing shows that it lived on": {silent, []string{"lived-on-pods.json"},
			"pod orders-7f9c5d8b6f-x2mzq runs since 29 Nov 05:12:05 UTC, but nothing in the files is newer than 29 Nov 05:12:05 UTC: with kubectl get events -o json, or docker events, they may show that it lived on"},
		"it started in the silence": {begun, []string{"rollout-pods.json", "lived-on-events.json"},
			"pod orders-5b6d7c9f44-p8vkt started at 07:12:08 UTC, in its silence: what was before is not in the files"},
		"it ended long before": {later, []string{"rollout-pods.json"}, "pod orders-7f9c5d8b6f-x2mzq fits, but ran at other times"},
		"a name that only begins alike": {short, []string{"oom-pods.json"},
			"nothing in the files (--pods) has its address 192.0.2.13 or a name in its client or instance id: they may be of another namespace or another time"},
		"events of other objects say none": {silent, []string{"lived-on-events.json"},
			"nothing in the files (--pods) has its address 10.42.7.22 or a name in its client or instance id: they may be of another namespace or another time"},
	} {
		if got := Testify(lives(t, tc.files...), tc.a); got.Fate != "" || got.Cause != "" || got.Text != tc.says {
			t.Errorf("%s: fate %q, cause %q, %q\nwant %q", name, got.Fate, got.Cause, got.Text, tc.says)
		}
	}
}

// TestContainersOfOnePod: containers that the platform stops with their pod are one end;
// where one alone ended, or they ended differently, the consumer may be another.
func TestContainersOfOnePod(t *testing.T) {
	a := Absence{Member: Member{ClientID: "consumer-orders-1", Host: "10.42.7.22"}, LastCommit: at("07:12:04"), From: at("07:12:06"), To: at("07:12:06"), Session: 10 * time.Second}
	list := lives(t, "rollout-pods.json", "rollout-events.json")
	i := slices.IndexFunc(list, func(l inspect.ProcessLife) bool { return l.Name == "orders-7f9c5d8b6f-x2mzq" })
	beside := list[i]
	beside.Container, beside.Ended = "proxy", inspect.At(beside.Ended.Add(2*time.Second))
	if got := Testify(append(list, beside), a); got.Cause != inspect.MemberLeft || got.Life.End != inspect.EndStopped {
		t.Errorf("stopped together: %+v", got)
	}
	beside.End = inspect.EndCrashed
	if got := Testify(append(list, beside), a); got.Fate != "" || !strings.Contains(got.Text, "2 processes that may be its own ended then") {
		t.Errorf("two ends: %+v", got)
	}
	beside.Ended = inspect.Time{}
	got := Testify(append(list, beside), a)
	if want := "container app of pod orders-7f9c5d8b6f-x2mzq was stopped at 07:12:06 UTC, as the member left"; got.Text != want {
		t.Errorf("one end: %q\nwant %q", got.Text, want)
	}
}

// TestAnEndAtNoTimeThatFits: an OOM kill half a minute before a session of 10 s could
// end is said, and is no cause.
func TestAnEndAtNoTimeThatFits(t *testing.T) {
	got := Testify(lives(t, "oom-pods.json"), Absence{Member: Member{Host: "10.42.7.22"}, LastCommit: at("07:12:04"), From: at("07:12:44"), To: at("07:12:45"), Session: 10 * time.Second})
	if got.Fate != inspect.FateEnded || got.Cause != "" || got.Text != "pod orders-7f9c5d8b6f-x2mzq was OOMKilled at 07:12:05 UTC, 39s to 40s before the member was out" {
		t.Errorf("%s, cause %q, %q", got.Fate, got.Cause, got.Text)
	}
}

// TestHostNetwork: pods on their node's address are told apart by name alone.
func TestHostNetwork(t *testing.T) {
	list := lives(t, "oom-pods.json")
	for i := range list {
		list[i].HostNet, list[i].Addresses = true, []string{"192.0.2.13"}
	}
	a := Absence{Member: Member{ClientID: "c", Host: "192.0.2.13"}, LastCommit: at("07:12:04"), From: at("07:12:15"), To: at("07:12:16"), Session: 10 * time.Second}
	if got := Testify(list, a); got.Fate != "" || !strings.HasSuffix(got.Text, "may have shared its address 192.0.2.13, and no name in its client or instance id says which is its own") {
		t.Errorf("by an address that is the node's: %+v", got)
	}
	a.InstanceID = "orders-7f9c5d8b6f-x2mzq"
	if got := Testify(list, a); got.By != "name" || got.Cause != inspect.SessionExpired {
		t.Errorf("by name: %+v", got)
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
	if _, err := b.Add("inspect.json", []byte(inspected)); err != nil {
		t.Fatal(err)
	}
	got := Testify(b.Lives(), a)
	if want := "container orders-worker was OOMKilled at 07:12:05 UTC, 6s to 7s before the member was out: its session of 6s ended without a heartbeat"; got.Text != want {
		t.Errorf("inspect: %q\nwant %q", got.Text, want)
	}
	var e Book
	if _, err := e.Add("events.json", []byte(events)); err != nil {
		t.Fatal(err)
	}
	a = Absence{Member: Member{ClientID: "orders-worker", Host: "172.18.0.5"}, LastCommit: at("07:12:04"), From: at("07:12:05"), To: at("07:12:05"), Session: 6 * time.Second}
	got = Testify(e.Lives(), a)
	if got.Life.End != inspect.EndStopped || got.Cause != inspect.MemberLeft {
		t.Errorf("events: %+v", got)
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
		if _, err := b.Add("f", []byte(text)); err == nil || err.Error() != want {
			t.Errorf("%q: %v\nwant %s", text, err, want)
		} else if len(b.Lives()) > 0 {
			t.Errorf("%q: lives are kept of a file with an error", text)
		}
	}
	var b Book
	if _, err := b.Add("f", []byte("{}")); !errors.Is(err, ErrForeign) {
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
		_, err := b.Add("f", data)
		lives := b.Lives()
		if err != nil && len(lives) > 0 {
			t.Fatalf("lives beside %v", err)
		}
		Testify(lives, Absence{Member: Member{ClientID: "c", Host: "10.42.7.22"}, From: at("07:12:15"), To: at("07:12:16"), Session: time.Second})
	})
}
