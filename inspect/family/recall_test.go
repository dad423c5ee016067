package family

import (
	"encoding/hex"
	"testing"
)

// The first subscriptions of real clients under a member id, as brokers recorded them: of
// processes that had just begun, and of such as had been put out and came back.
func TestRecalled(t *testing.T) {
	const topic = "0003" + "00000001" + "000161" // version 3, one topic, a
	const none = "00000000" + "ffffffff"         // no owned partitions, no generation
	for name, c := range map[string]struct {
		protocol, hex string
		want          int32
		unknown       bool
	}{
		"java, new":                        {"cooperative-sticky", topic + "00000004" + "ffffffff" + none + "ffff", -1, false},
		"java, back":                       {"cooperative-sticky", topic + "00000004" + "00000003" + none + "ffff", 3, false},
		"java, sticky, new":                {"sticky", topic + "ffffffff" + none + "ffff", -1, false},
		"java, sticky, back":               {"sticky", topic + "00000013" + "00000001" + "000161" + "00000001" + "00000002" + "00000005" + none + "ffff", 5, false},
		"java, sticky, back with nothing":  {"sticky", topic + "00000008" + "00000000" + "00000003" + none + "ffff", 3, false},
		"java, range, back":                {"range", topic + "ffffffff" + none + "ffff", 0, true},
		"librdkafka, new":                  {"cooperative-sticky", topic + "00000000" + none + "0000", -1, false},
		"librdkafka, back":                 {"cooperative-sticky", topic + "00000008" + "00000000" + "00000002" + "00000000" + "00000002" + "0000", 2, false},
		"franz-go, new":                    {"cooperative-sticky", topic + "00000004" + "00000000" + none + "ffff", -1, false},
		"franz-go, back":                   {"range", topic + "ffffffff" + "00000000" + "00000004" + "ffff", 4, false},
		"sarama, new":                      {"sticky", "0001" + "00000001" + "000161" + "ffffffff" + "00000000", -1, false},
		"sarama, back":                     {"sticky", "0001" + "00000001" + "000161" + "00000013" + "00000001" + "000161" + "00000001" + "00000000" + "00000002" + "00000000", 2, false},
		"a sticky assignor of before 2019": {"sticky", topic + "0000000f" + "00000001" + "000161" + "00000001" + "00000002" + none + "ffff", 0, true},
		"no bytes":                         {"sticky", "", 0, true},
		"cut":                              {"sticky", "000300000001", 0, true},
		"a length beyond the end":          {"sticky", topic + "7fffffff", 0, true},
	} {
		b, err := hex.DecodeString(c.hex)
		if err != nil {
			t.Fatal(err)
		}
		got := Recalled(c.protocol, b)
		switch {
		case c.unknown && got != nil:
			t.Errorf("%s: recalls %d, want unknown", name, *got)
		case !c.unknown && (got == nil || *got != c.want):
			t.Errorf("%s: recalls %v, want %d", name, got, c.want)
		}
	}
}
