package docgen

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/kgdiag/kgdiag/internal/realtest"
)

// ReadCompatibility reads what scripts/compat kept in a folder: for each version what was seen (VERSION.json) and the outcome
// of each test (VERSION.txt).
func ReadCompatibility(dir string) ([]realtest.Kafka, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil {
		return nil, err
	}
	var out []realtest.Kafka
	for _, f := range files {
		var k realtest.Kafka
		text, err := os.ReadFile(f)
		if err != nil {
			return nil, err
		}
		if err := json.Unmarshal(text, &k); err != nil {
			return nil, fmt.Errorf("%s: %w", f, err)
		}
		outcomes, err := os.ReadFile(strings.TrimSuffix(f, ".json") + ".txt")
		if err != nil {
			return nil, err
		}
		for line := range strings.Lines(string(outcomes)) {
			if outcome, test, _ := strings.Cut(strings.TrimSpace(line), " "); outcome == "PASS" {
				k.Passed = append(k.Passed, test)
			} else {
				k.Failed = append(k.Failed, test)
			}
		}
		slices.SortFunc(k.Groups, func(a, b realtest.Sight) int { return strings.Compare(a.Kind, b.Kind) })
		out = append(out, k)
	}
	return out, nil
}

// Dialect is what the commands said that they could not read of a simulated broker that is not Kafka's own, by command.
type Dialect struct {
	Title   string
	Missing map[string][]string
}

// dialectTitles are the names of the files that the trial of the dialects keeps, in the order of the columns.
var dialectTitles = []struct{ file, title string }{{"redpanda", "Redpanda"}, {"eventhubs", "Azure Event Hubs"}}

// dialectRows are the rows of the table, with what the user writes.
var dialectRows = []struct{ key, command string }{{"locate", "locate GROUP"}, {"describe", "describe GROUP"}, {"watch", "watch GROUP"}, {"history", "history GROUP"},
	{"why", "why GROUP"}, {"triage", "why"}, {"advise", "advise GROUP"}, {"record", "record GROUP"}}

// ReadDialects reads what the trial of the dialects kept in a folder.
func ReadDialects(dir string) ([]Dialect, error) {
	var out []Dialect
	for _, t := range dialectTitles {
		d := Dialect{Title: t.title}
		file := filepath.Join(dir, t.file+".json")
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		if err := json.Unmarshal(text, &d.Missing); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		out = append(out, d)
	}
	return out, nil
}

// dialectTable is a row for each command, a column for each dialect.
func dialectTable(b *strings.Builder, dialects []Dialect) {
	var notes []string
	b.WriteString("| command |")
	for _, d := range dialects {
		b.WriteString(" " + d.Title + ", simulated |")
	}
	b.WriteString("\n|---|" + strings.Repeat("---|", len(dialects)) + "\n")
	for _, row := range dialectRows {
		fmt.Fprintf(b, "| `%s` |", row.command)
		for _, d := range dialects {
			missing, asked := d.Missing[row.key]
			fmt.Fprintf(b, " %s |", compatCell(missing, asked, &notes))
		}
		b.WriteString("\n")
	}
	b.WriteString("\n")
	for i, n := range notes {
		fmt.Fprintf(b, "%d. %s\n", i+1, n)
	}
}

// compatCommands are the columns of the table, in the order of the help.
var compatCommands = []string{"locate", "describe", "watch", "history", "why", "advise", "record"}

// Compatibility is docs/compatibility.md, from what scripts/compat found of real brokers
// and of the dialects.
func Compatibility(found []realtest.Kafka, dialects []Dialect) string {
	slices.SortFunc(found, func(a, b realtest.Kafka) int { return compareVersions(a.Version, b.Version) })
	var b strings.Builder
	b.WriteString("# Which brokers were run\n\n" + notice + compatIntro)
	b.WriteString("| Kafka | group | run with | " + strings.Join(compatCommands, " | ") + " |\n|---|---|---|" + strings.Repeat("---|", len(compatCommands)) + "\n")
	var notes []string
	for _, k := range found {
		for _, s := range k.Groups {
			fmt.Fprintf(&b, "| %s | %s | %s |", k.Version, s.Kind, s.Client)
			for _, c := range compatCommands {
				missing, asked := s.Missing[c]
				fmt.Fprintf(&b, " %s |", compatCell(missing, asked, &notes))
			}
			b.WriteString("\n")
		}
	}
	b.WriteString("\n")
	for i, n := range notes {
		fmt.Fprintf(&b, "%d. %s\n", i+1, n)
	}
	b.WriteString(compatSuite)
	b.WriteString("| Kafka | brokers | tests passed | failed | faults: right | hedged | unknown | wrong |\n|---|---|---|---|---|---|---|---|\n")
	for _, k := range found {
		fmt.Fprintf(&b, "| %s | %d | %d | %s | %d | %d | %d | %d |\n", k.Version, k.Brokers, len(k.Passed), cmp.Or(strings.Join(k.Failed, ", "), "none"),
			k.Causes["right"], k.Causes["hedged"], k.Causes["unknown"], k.Causes["wrong"])
	}
	b.WriteString(compatSimulated)
	dialectTable(&b, dialects)
	b.WriteString(compatDialects)
	return b.String()
}

// compatCell is one cell: yes, or the numbers of the notes that say what is missing.
func compatCell(missing []string, asked bool, notes *[]string) string {
	switch {
	case !asked:
		return "–"
	case len(missing) == 0:
		return "yes"
	}
	var refs []string
	for _, m := range missing {
		i := slices.Index(*notes, m)
		if i < 0 {
			i = len(*notes)
			*notes = append(*notes, m)
		}
		refs = append(refs, fmt.Sprintf("but %d", i+1))
	}
	return strings.Join(refs, ", ")
}

// compareVersions orders 2.8.2 before 4.1.1 and 4.2.0 before 4.10.0.
func compareVersions(a, b string) int {
	x, y := strings.Split(a, "."), strings.Split(b, ".")
	for i := range min(len(x), len(y)) {
		if c := cmp.Or(cmp.Compare(len(x[i]), len(y[i])), cmp.Compare(x[i], y[i])); c != 0 {
			return c
		}
	}
	return cmp.Compare(len(x), len(y))
}

const compatIntro = "`scripts/compat` starts real brokers of each version, runs the suite on real brokers against them, and asks every command for a group of each\n" +
	"kind that the version serves, while a member joins and leaves. *yes*: all was shown that the command shows anywhere: `locate` the partition and\n" +
	"the coordinator, as the broker answers; `describe` state, members with host and partitions, generation or epoch, timeouts, lag; `watch` the join and the leave;\n" +
	"`history` and `record` the rebalances with their members; `why` and `advise` an answer without a gap. Otherwise the number of the note below that says what\n" +
	"is missing. A version that is not in the table was not run.\n\n"

const compatSuite = "\n## The suite on these brokers\n\n" +
	"The tests are those of scripts/compat; a test of what a version does not have (groups of type consumer before 4.0, share groups before 4.1) is not run there.\n" +
	"Of the faults, *right* is the cause that was done, *hedged* names it among others, *unknown* says that it is not known; those that records cannot show are among them.\n" +
	"Open: on 4.0 a member of a consumer group that does not give partitions up within its rebalance timeout is reported as one that left by itself, at low confidence.\n\n"

const compatSimulated = "\n## Simulated\n\n" +
	"Redpanda and Azure Event Hubs were not run: the simulated cluster answers as they do, as far as that is known, and every command is run against it (`TestDialects`).\n" +
	"*yes*: it read all that it reads on Kafka, of a group of one member that had lost another; otherwise the number of what it says that it could not read.\n\n" +
	"- **Redpanda**, by the source of 24.3: its versions of each request (Fetch to 11, ListGroups to 4, DescribeGroups to 5), no ConsumerGroupDescribe and no DescribeCluster, 16 partitions of\n" +
	"  `__consumer_offsets` in which groups are placed by a hash of its own, records as Kafka's, and nine settings of a broker, none of which bounds a group. Batches of its own between the records are not simulated.\n" +
	"- **Azure Event Hubs**, by ApiVersions answers and output that users have published (2019 to 2025): one broker, Metadata to version 5, Fetch to 6, DescribeGroups and ListGroups to 1,\n" +
	"  no DescribeCluster, members at host 0.0.0.0. Assumed: that `__consumer_offsets` is an unknown topic, and that settings of brokers are refused. Users report that a group whose last member has\n" +
	"  gone is no longer listed after a while; then kgdiag says that it does not exist.\n\n"

const compatDialects = "\n## What was not run\n\n" +
	"Confluent Cloud, Amazon MSK, Azure Event Hubs, Aiven, WarpStream, AutoMQ and Redpanda were not run. What kgdiag does where a service hides\n" +
	"`__consumer_offsets` was tried on a real broker whose ACLs hide it ([accuracy.md](accuracy.md)): `why GROUP --for 5m` and `watch` look at the committed offsets and the members, and\n" +
	"say which timeouts they assume; `history` and `why` without `--for` say what they cannot know. `kgdiag check` tells for each command what works on the cluster at hand.\n"
