package past

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/kgdiag/kgdiag/inspect/clientlog"
)

// A process prints its configuration at each start: what is the same is one, what was
// changed is another.
func TestConfigurationPrintedAtEachStart(t *testing.T) {
	const block = "2026-11-30 12:00:00,000 INFO ConsumerConfig values: \n\tclient.id = orders-1\n\tgroup.id = orders\n\tmax.poll.interval.ms = 300000\n\n"
	const changed = "2026-11-30 13:00:00,000 INFO ConsumerConfig values: \n\tclient.id = orders-1\n\tgroup.id = orders\n\tmax.poll.interval.ms = 600000\n\n"
	name := filepath.Join(t.TempDir(), "app.log")
	if err := os.WriteFile(name, []byte(block+block+changed+block), 0o600); err != nil {
		t.Fatal(err)
	}
	logs, err := ReadLogs(t.Context(), []string{name}, clientlog.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, c := range logs.Configs {
		for _, s := range c.Settings {
			if s.Key == "max.poll.interval.ms" {
				got = append(got, s.Value)
			}
		}
	}
	if len(got) != 2 || got[0] != "300000" || got[1] != "600000" {
		t.Errorf("configurations with max.poll.interval.ms %v, want 300000 and 600000, each once", got)
	}
}
