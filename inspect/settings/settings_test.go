package settings

import (
	"strconv"
	"strings"
	"testing"

	"github.com/kgdiag/kgdiag/inspect"
)

// TestTablesAreWellFormed reads every line of every table: a default lies within its
// bounds, ranges of releases do not overlap, and a constraint names settings that exist.
func TestTablesAreWellFormed(t *testing.T) {
	for _, client := range Clients() {
		byKey := map[string][]Setting{}
		for _, s := range All(client) {
			byKey[s.Key] = append(byKey[s.Key], s)
			checkSetting(t, s)
		}
		for key, ss := range byKey {
			for i, a := range ss {
				for _, b := range ss[i+1:] {
					if !overlaid(a, b) && overlap(a, b) {
						t.Errorf("%s %s: [%s,%s) and [%s,%s) overlap", client, key, a.Since, a.Before, b.Since, b.Before)
					}
				}
			}
		}
		for _, c := range load().constraints[client] {
			checkConstraint(t, client, c)
		}
	}
}

func checkSetting(t *testing.T, s Setting) {
	t.Helper()
	if s.Source == "" || s.Type == "" {
		t.Errorf("%s %s: no source or type", s.Client, s.Key)
	}
	for _, n := range []string{s.Least, s.Most} {
		if _, err := strconv.ParseFloat(n, 64); n != "" && err != nil {
			t.Errorf("%s %s: bound %q is no number", s.Client, s.Key, n)
		}
	}
	if s.Default != "" && s.Default != "-1" && s.Role != "P" && s.Refuses(s.Default) != "" && s.Values == nil {
		t.Errorf("%s %s: its default %s is %s", s.Client, s.Key, s.Default, s.Refuses(s.Default))
	}
}

func checkConstraint(t *testing.T, client inspect.Family, c Constraint) {
	t.Helper()
	for _, key := range []string{c.Left, c.Right} {
		if _, ok := Has(client, key); !ok && client != inspect.Connect && client != inspect.StreamsLib {
			t.Errorf("%s: constraint on %s, which it has not", client, key)
		}
	}
	if !strings.Contains(" < <= > >= ", " "+c.Op+" ") || c.Source == "" {
		t.Errorf("%s: constraint %+v", client, c)
	}
}

// TestFrameworksAndFaultsAreWellFormed holds every framework to a client that is known,
// and every fault to a release that mends it.
func TestFrameworksAndFaultsAreWellFormed(t *testing.T) {
	if len(Frameworks()) < 10 {
		t.Errorf("%d frameworks", len(Frameworks()))
	}
	for _, name := range Frameworks() {
		f, _ := FrameworkOf(name)
		if len(All(f.Client)) == 0 {
			t.Errorf("%s: client %q is not known", name, f.Client)
		}
		for _, x := range f.Fields() {
			if x.Source == "" || x.Key == "" && !strings.HasSuffix(x.Name, "*") {
				t.Errorf("%s: %+v", name, x)
			}
		}
	}
	for _, row := range lines("faults") {
		if row[5] == "" || row[6] == "" || row[7] == "" || !AtLeast(row[5], row[2]) {
			t.Errorf("fault %q", row)
		}
	}
}

// overlaid reports whether one of two lines outranks the other: the overlay's, or one
// name of a setting that has two.
func overlaid(a, b Setting) bool {
	return a.Name != b.Name || strings.Fields(a.Source)[0] != strings.Fields(b.Source)[0] || a.Source == overlay(a) || b.Source == overlay(b)
}

func overlay(s Setting) string {
	for _, row := range lines("overlay") {
		if row[0] == string(s.Client) && row[1] == s.Key && row[7] == s.Since {
			return row[11]
		}
	}
	return ""
}

func overlap(a, b Setting) bool {
	return (a.Before == "" || !AtLeast(b.Since, a.Before)) && (b.Before == "" || !AtLeast(a.Since, b.Before))
}

func TestLookupByRelease(t *testing.T) {
	for _, tc := range []struct {
		client        inspect.Family
		version, key  string
		value, source string
	}{
		{inspect.Java, "2.8.1", "session.timeout.ms", "10000", "ConsumerConfig 0.10.1"},
		{inspect.Java, "3.0.0", "session.timeout.ms", "45000", "ConsumerConfig 3.0"},
		{inspect.Java, "0.9.0.1", "session.timeout.ms", "30000", "ConsumerConfig"},
		{inspect.Java, "0.10.0", "max.poll.records", "2147483647", "ConsumerConfig 0.10.0"},
		{inspect.StreamsLib, "2.0", "max.poll.interval.ms", "2147483647", "StreamsConfig 0.10.2"},
		{inspect.StreamsLib, "3.7", "fetch.max.wait.ms", "500", "ConsumerConfig"},
		{inspect.Librdkafka, "1.5.2", "session.timeout.ms", "10000", "librdkafka CONFIGURATION.md 1.0.0"},
		{inspect.Librdkafka, "", "max.poll.interval.ms", "300000", "librdkafka CONFIGURATION.md 1.0.0"},
		{inspect.KafkaPython, "2.0.2", "request.timeout.ms", "305000", "consumer/group.py 1.4.0"},
		{inspect.AIOKafka, "0.7.2", "session.timeout.ms", "10000", "aiokafka consumer.py 0.5.1"},
	} {
		s, ok := Lookup(tc.client, tc.version, tc.key)
		if !ok || s.Default != tc.value || s.Source != tc.source {
			t.Errorf("%s %s %s: %q from %q, want %q from %q", tc.client, tc.version, tc.key, s.Default, s.Source, tc.value, tc.source)
		}
	}
	if s, ok := Lookup(inspect.Librdkafka, "0.11.6", "max.poll.interval.ms"); ok {
		t.Errorf("librdkafka 0.11.6 has %+v", s)
	}
	if since, ok := Has(inspect.Librdkafka, "max.poll.records"); !ok || since != "2.15.0" {
		t.Errorf("max.poll.records of librdkafka: since %q, %v", since, ok)
	}
}

func TestRefuses(t *testing.T) {
	day, _ := Lookup(inspect.Librdkafka, "2.3.0", "max.poll.interval.ms")
	if got := day.Refuses("86400000"); got != "" {
		t.Errorf("librdkafka's own maximum is %s", got)
	}
	if got := day.Refuses("86400001"); !strings.Contains(got, "above 86400000, the most that librdkafka accepts") {
		t.Errorf("one above it: %q", got)
	}
	reset, _ := Lookup(inspect.Java, "4.0", "auto.offset.reset")
	if got := reset.Refuses("by_duration:PT1H"); got != "" {
		t.Errorf("by_duration: %s", got)
	}
	for _, tt := range []struct {
		client   inspect.Family
		value    string
		accepted bool
	}{
		{inspect.Java, "true", true}, {inspect.Java, "False", true}, {inspect.Java, "flase", false}, {inspect.Java, "1", false},
		{inspect.Librdkafka, "1", true}, {inspect.Librdkafka, "flase", false},
	} {
		auto, ok := Lookup(tt.client, "", "enable.auto.commit")
		if got := auto.Refuses(tt.value); !ok || (got == "") != tt.accepted {
			t.Errorf("enable.auto.commit=%s of %s: %q, accepted %v", tt.value, tt.client, got, tt.accepted)
		}
	}
	if got := reset.Refuses("begining"); !strings.Contains(got, "earliest, latest, none") {
		t.Errorf("begining: %q", got)
	}
}

// TestConstraintsOfWhatIsSet holds the pairs that librdkafka compares only where the file
// sets one, and one of them with room for the protocol.
func TestConstraintsOfWhatIsSet(t *testing.T) {
	for _, c := range Constraints(inspect.Librdkafka, "2.3.0") {
		if c.Left != "receive.message.max.bytes" {
			continue
		}
		if c.Plus != 512 || strings.Join(c.Set, " ") != c.Left || strings.Join(c.Unset, " ") != "queued.max.messages.kbytes" {
			t.Errorf("%+v", c)
		}
		if c.Holds(52428800+511, 52428800) || !c.Holds(52428800+512, 52428800) {
			t.Error("512 bytes above the fetch suffice, 511 do not")
		}
		return
	}
	t.Error("no constraint on receive.message.max.bytes")
}

func TestConstraintsByRelease(t *testing.T) {
	refused := func(client inspect.Family, version, left, right string) bool {
		for _, c := range Constraints(client, version) {
			if c.Left == left && c.Right == right && c.Effect == Refused {
				return true
			}
		}
		return false
	}
	const request, session = "request.timeout.ms", "session.timeout.ms"
	for version, want := range map[string]bool{"1.2.5": false, "1.3.2": false, "1.3.3": true, "2.0.2": true, "3.0.0": false} {
		if got := refused(inspect.KafkaPython, version, request, session); got != want {
			t.Errorf("kafka-python %s refuses %v, want %v", version, got, want)
		}
	}
	if refused(inspect.Java, "2.0", request, session) || !refused(inspect.Java, "1.1", request, session) {
		t.Error("Java checked request.timeout.ms against the session up to 1.1")
	}
}
