package cmd

import (
	"encoding/json"
	"flag"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/kgdiag/kgdiag/internal/golden"
)

// TestPods: a librdkafka consumer under KIP-848 with a session of 45 s was killed; the
// case is a recorded one, and scripts/lab/pods wrote what Kubernetes would say of five
// fates of its pod. Only an end that fits states the cause.
func TestPods(t *testing.T) {
	at := func(name string) string { return filepath.Join("testdata", "pods", name) }
	for fate, want := range map[string]struct{ cause, basis, says string }{
		"oom":      {"session_expired", "stated", "pod orders-7f9c5d8b6f-x2mzq was OOMKilled at 07:03:05 UTC, 42s before the member was out"},
		"evicted":  {"session_expired", "stated", "pod orders-7f9c5d8b6f-x2mzq was evicted from its node at 07:03:07 UTC, 40s before the member was out"},
		"liveness": {"session_expired", "stated", "pod orders-7f9c5d8b6f-x2mzq was restarted after a failed probe at 07:03:06 UTC, 41s before the member was out"},
		"rollout":  {"session_expired", "stated", "pod orders-7f9c5d8b6f-x2mzq was stopped at 07:03:06 UTC, 41s before the member was out"},
		"lived-on": {"", "inferred", "ran on from 29 Nov 05:03:05 UTC past 07:03:46 UTC without a restart: the process did not crash"},
		"other":    {"", "inferred", ""}, // a list of another namespace and time
	} {
		files := []string{"--pods", at(fate + "-pods.json"), "--pods", at(fate + "-events.json")}
		if fate == "other" {
			files = []string{"--pods", at("other-pods.json")}
		}
		out, errs, code := screenOf(append([]string{"history", "orders", "-o", "json", "--from", at("orders.kgcase")}, files...)...)
		if code != 0 {
			t.Fatalf("%s: exit code %d: %s", fate, code, errs)
		}
		var doc struct {
			Groups []struct {
				Rebalances []struct {
					Cause, Basis, Confidence string
					Evidence                 []string
					Members                  struct {
						Left []struct {
							ClientID string `json:"client_id"`
						}
					}
				}
			}
		}
		if err := json.Unmarshal([]byte(out), &doc); err != nil {
			t.Fatal(err)
		}
		r := doc.Groups[0].Rebalances[2]
		if len(r.Members.Left) != 1 || r.Members.Left[0].ClientID != "consumer-orders-1" {
			t.Fatalf("%s: not the departure that is meant: %+v", fate, r)
		}
		if r.Basis != want.basis || want.cause != "" && (r.Cause != want.cause || r.Confidence != "high") {
			t.Errorf("%s: %s, %s, %s; want %s, %s", fate, r.Cause, r.Confidence, r.Basis, want.cause, want.basis)
		}
		speaks := slices.ContainsFunc(r.Evidence, func(s string) bool { return strings.Contains(s, "pod ") })
		page, errs, code := screenOf(append([]string{"why", "orders", "--from", at("orders.kgcase")}, files...)...)
		if code != 0 {
			t.Fatalf("why, %s: exit code %d: %s", fate, code, errs)
		}
		page, _, _ = strings.Cut(page, "NOT CHECKED") // how many rules there are is not the matter
		golden.Compare(t, flag.Lookup("update").Value.String() == "true", at("why-"+fate+".golden"), page, "run go test ./cmd -run TestPods -update and look at the difference")
		if want.says == "" && speaks || want.says != "" && !slices.ContainsFunc(r.Evidence, func(s string) bool { return strings.Contains(s, want.says) }) {
			t.Errorf("%s: evidence %q, want %q", fate, r.Evidence, want.says)
		}
	}
	for file, want := range map[string]string{
		at("orders.kgcase"): "want JSON",
		"nowhere.json":      "no such file",
		"testdata":          "directory",
	} {
		if _, errs, code := screenOf("why", "orders", "--from", at("orders.kgcase"), "--pods", file); code != 2 || !strings.Contains(errs, want) || !strings.Contains(errs, file) {
			t.Errorf("--pods %s: exit code %d, %q", file, code, errs)
		}
	}
}

// TestPodsOfAReturn: a Java consumer that stood still for a minute and came back, as if in
// a pod with three fates. The page says what the platform says, asks for nothing that it
// was given, and offers no cure for what that excludes.
func TestPodsOfAReturn(t *testing.T) {
	at := func(name string) string { return filepath.Join("testdata", "pods", "paused", name) }
	for name, tc := range map[string]struct {
		files     []string
		says, not []string
	}{
		"oom":       {[]string{"--pods", at("oom-pods.json"), "--pods", at("oom-events.json")}, []string{"a new one came in its place", "was OOMKilled at 08:01:30 UTC", "container more memory"}, []string{"to decide", "FIX   session"}},
		"liveness":  {[]string{"--pods", at("liveness-pods.json"), "--pods", at("liveness-events.json")}, []string{"restarted after a failed probe at 08:01:31 UTC", "timeoutSeconds"}, []string{"to decide", "FIX   session"}},
		"lived-on":  {[]string{"--pods", at("lived-on-pods.json"), "--pods", at("lived-on-events.json")}, []string{"the same process came back", "the process did not crash", "FIX   if its host and network are sound: session.timeout.ms=180000"}, []string{"to decide", "it depends on whether the process", "if the process kept running"}},
		"no events": {[]string{"--pods", at("lived-on-pods.json")}, []string{"nothing in the files is newer than 29 Nov", "kubectl get events -o json", "(--log FILE)", "(--gc-log FILE)"}, []string{"--pods FILE"}},
		"gc log":    {[]string{"--gc-log", at("gc.log")}, []string{"gc.log:1: the longest pause that it shows of that time is 30ms", "(--pods FILE): a restart then is a crash, none is a pause"}, []string{"--gc-log FILE"}},
		"empty":     {[]string{"--pods", at("empty.json")}, []string{"(--log FILE)"}, []string{"--pods FILE"}},
		"all given": {[]string{"--pods", at("lived-on-pods.json"), "--gc-log", at("gc.log"), "--log", at("gc.log")}, []string{"what --log gave does not decide"}, []string{"--log FILE", "lines read"}},
	} {
		page, errs, code := screenOf(append([]string{"why", "--from", at("orders.kgcase")}, tc.files...)...)
		if code != 0 {
			t.Fatalf("%s: exit code %d: %s", name, code, errs)
		}
		page, _, _ = strings.Cut(page, "NOT CHECKED")
		words := strings.Join(strings.Fields(page), " ")
		for _, s := range tc.says {
			if s = strings.Join(strings.Fields(s), " "); !strings.Contains(words, s) {
				t.Errorf("%s: does not say %q:\n%s", name, s, page)
			}
		}
		for _, s := range tc.not {
			if s = strings.Join(strings.Fields(s), " "); strings.Contains(words, s) {
				t.Errorf("%s: says %q:\n%s", name, s, page)
			}
		}
		if name == "empty" && !strings.Contains(errs, "no pod, event or container in it") {
			t.Errorf("an empty list is passed over: %q", errs)
		}
		golden.Compare(t, flag.Lookup("update").Value.String() == "true", at("why-"+strings.ReplaceAll(name, " ", "-")+".golden"), page, "run go test ./cmd -run TestPodsOfAReturn -update and look at the difference")
	}
}

// TestPodsAreRedacted: a case that is handed on names no pod.
func TestPodsAreRedacted(t *testing.T) {
	at := func(name string) string { return filepath.Join("testdata", "pods", name) }
	held, to := filepath.Join(t.TempDir(), "a.kgcase"), filepath.Join(t.TempDir(), "b.kgcase")
	for _, args := range [][]string{
		{"record", "--from", at("orders.kgcase"), "--to", held, "--pods", at("oom-pods.json")},
		{"record", "--from", held, "--to", to, "--redact"},
	} {
		if out, errs, code := screenOf(args...); code != 0 {
			t.Fatalf("%v: exit code %d: %s%s", args, code, out, errs)
		}
	}
	out, errs, code := screenOf("history", "-v", "-o", "json", "--from", to)
	if code != 0 || !strings.Contains(out, "was OOMKilled at 07:03:05") {
		t.Fatal(out, errs, code)
	}
	for _, name := range []string{"orders-7f9c5d8b6f", "10.42.7.22", "node-3", "planted-secret"} {
		if strings.Contains(out, name) {
			t.Errorf("%q is still there:\n%s", name, out)
		}
	}
}
