package fieldscore

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

const (
	accuracyFile = "../../docs/accuracy.md"
	sectionBegin = "<!-- internal/fieldscore -->\n"
	sectionEnd   = "<!-- end -->\n"
)

const sectionHead = `## Advice on public reports

Reports from public issue trackers, as the files that the reporter had: the lines of the log and the settings, names replaced, with
the command that a user would type. The accepted cause (the thread's accepted answer, the maintainers' word or a merged fix)
and the numbers of a right answer were written down before kgdiag was run. *Right*: a finding of the due severity names the cause in
its own words, with the key and the number. *Partly*: a finding has at least half of that. *Misled*: a warning or an error says what is
wrong, or stands where nothing is. The first five columns are the reports whose evidence is in the files; *open* are those whose
evidence bears more than one cause, or whose cause was never found, where the answer must say just that.

The row of a commit is what it said before anything was changed for the batch; *now* is the least that the code may say: the
test fails where a report becomes worse. Only the rows of a commit are a hold-out.

The first 25 reports of batch3 were written, and scored with 7fa05d1, before the code of d2ff4cc was: their files lay open
meanwhile, and d2ff4cc answers every one of them right. The last 25 were written when most of that code had landed.

batch4 is what searches of issue trackers gave for a list of neutral questions that was written down first; left out was only what had
no accepted cause or stood in an earlier batch. The expectations lay where nobody who changes the code saw them until the rows were
taken. Then every answer was read: six expectations that let pass less than the accepted answer, or something false beside it, were
made stricter, which turned the first row from 13, 6, 8, 0 and 13, 2, 8, 0 into what stands here, and one was relaxed. batch5 was made
and read in the same way (four expectations stricter; 5, 2, 9, 1 and 4, 5, 3, 0 before). The last rows of both are what to expect on
new reports: 16 of 44 right and 7 misled, and 18 of the 35 open ones right. What is missed most is a refused commit taken for an
eviction, assign() beside subscribe(), and what the code does rather than what it sets.

batch6 is from searches for clients and products that the earlier ones hardly have (Faust, Storm, ksqlDB, Vert.x, brod, fluentd, watermill,
Logstash, Azure Functions, Spark, Quix, …) and for other sources than issue trackers; those gave one report, what else they had was without
evidence or written by a machine. Two thirds are open, since many threads end without the cause. When every answer was read, fifteen
expectations were made stricter, which turned the rows from 9, 6, 4, 0 and 13, 10, 17, 1, and from 10, 6, 3, 0 and 18, 8, 14, 1, into what
stands here. Four were too narrow in their words and were mended after the rows were taken: three answers that these count as partly
right are right, and one that they count as misled is not. Of the 60, 915d73d has 19 right and 12 misled, and no word on 16. What misled
most is a default or a name of one client said of another, or of an old version; then a refused commit called an eviction, or with an
error that the log does not have.

batch7 is from issue trackers alone and was gathered for what files decide: 31 neutral questions, then questions for the wording of single
errors, and of what these gave the threads that show log lines, settings or code for their cause; such reports are easier to read than
what people have at hand. For seven the accepted cause is what the files show by themselves. kgdiag has no word on 21 of the 45, nine of
them code: assign() in place of subscribe(), a call without await, a version set too low. When every answer was read, four expectations
were made stricter and two, too narrow in their words, were mended, which turned the row from 14, 4, 12, 1 and 3, 3, 8, 0 into what stands here.

batch8 is from searches by meaning and, where all that these gave stood already, from exact sentences of logs looked for in public files:
seventeen are issues, the others notes, courses, post-mortems, frequent questions and READMEs in six languages, where the author says what
it was. Many of them are evictions of one kind, easier than what people bring. When every answer was read, six expectations were made
stricter and five, too narrow in their words, were mended, which turned the rows from 20, 11, 13, 1 and 6, 1, 6, 0, and from 20, 13, 11, 1
and 6, 1, 6, 0, into what stands here. It misled by an example of an interval shorter than the log's own gap, by the rules of sessions for
consumers that assign themselves or were not polled, and by a topic called absent that only another member had subscribed to.

batch9 is from the same kinds of sources as batch8, by 49 neutral questions that were written down first and then by sentences of clients that
these left thin: thirteen are threads of issue trackers, the others notes, courses, runbooks and READMEs, thirteen of them in Chinese or Korean.
Evictions, missing topics and permissions are many. Frozen in four parts, each before kgdiag was run on it. a0aa6ca is 20 commits after
18e91d0, some of them rules from other reports on the same clients, written while nobody who wrote them saw these: not one verdict differs.
When every answer was read, three expectations were made stricter and three, too narrow in their words, were mended, which turned both rows
from 30, 12, 15, 2 and 5, 2, 5, 0 into what stands here. It misled by a longer poll interval where an exception outside the try had
ended the polling thread, and by the record or target called at fault where a Connect task failed for the group or its permission.

batch10 was gathered by a second hand in the same hour as batch9 and by its rules, from other reports: eight are issues, the others public files
found by exact sentences of logs (fix notes, courses, post-mortems, comments beside code) in eight languages. The settings and programs are
what the file names, in few lines. Neither row had been seen by anybody who changed the code. When every answer of 18e91d0 had been read, six
expectations were made stricter and two mended, which turned the rows from 19, 8, 9, 1 and 11, 1, 3, 1, and from 20, 8, 8, 1 and
11, 1, 3, 1, into what stands here. What misled: a log whose newest line stands first, read as a callback of half an hour, and "this passes,
logged once" of one that counts its lines. Not read at all are what a client refuses as it is made, and which settings the code of another product gives.

*healthy* are no reports: ten minutes of normal work of each client, three members and a rolling deploy among them, recorded against
Kafka 4.1.1. Nothing above info is right there; any warning is a false alarm and counts as misled. A test lays each of the ten recordings with lines
out through ten hours, alone, beside another client's and all together: a hundred hours with a deploy in each, of which ten minutes are
recorded and the rest is empty. It showed four false alarms, all of what is rare within an hour and adds up in a day, which are gone.

*sweepB* are reports of librdkafka's bindings, kafka-python, aiokafka and faust that were read one after the other, each mended when it was
read: they train, and hold out nothing.

*variants* are no reports either: inputs thought up in the forms that people use (a snippet of source code in each language, an exception
alone, settings that a program prints, a broker's file), each with its answer written down before it was run. Each part was scored
before the code was changed for it; they tune, and whoever thinks them up knows the code: a hold-out they are not.

| batch | code | reports | right | partly | nothing | misled | open | right | partly | nothing | misled |
|---|---|---|---|---|---|---|---|---|---|---|---|
`

// measured are the rows that were taken before anything was changed for a batch.
var measured = map[string][][2]string{
	"field":  {{"7fa05d1", "28 | 5 | 3 | 14 | 6 | 9 | 2 | 2 | 5 | 0"}},
	"batch1": {{"7fa05d1", "32 | 11 | 8 | 11 | 2 | 18 | 7 | 3 | 7 | 1"}},
	"batch3": {
		{"7fa05d1", "35 | 12 | 12 | 11 | 0 | 15 | 6 | 1 | 7 | 1"},
		{"d2ff4cc", "35 | 24 | 7 | 4 | 0 | 15 | 14 | 0 | 0 | 1"},
		{"7fa05d1, last 25", "23 | 7 | 9 | 7 | 0 | 2 | 0 | 0 | 1 | 1"},
		{"d2ff4cc, last 25", "23 | 12 | 7 | 4 | 0 | 2 | 1 | 0 | 0 | 1"},
	},
	"healthy": {
		{"7fa05d1", "11 | 5 | 0 | 3 | 3 | 0 | 0 | 0 | 0 | 0"},
		{"44e61b3", "11 | 5 | 0 | 0 | 6 | 0 | 0 | 0 | 0 | 0"},
	},
	"batch4": {
		{"33e5e8f", "27 | 12 | 6 | 7 | 2 | 23 | 12 | 3 | 6 | 2"},
		{"46aefa9", "27 | 13 | 6 | 6 | 2 | 23 | 14 | 1 | 6 | 2"},
	},
	"batch5": {
		{"33e5e8f", "17 | 3 | 1 | 8 | 5 | 12 | 4 | 5 | 3 | 0"},
		{"35b73ab", "17 | 3 | 1 | 8 | 5 | 12 | 4 | 5 | 3 | 0"},
	},
	"batch6": {
		{"c82dac6", "19 | 5 | 6 | 3 | 5 | 41 | 11 | 8 | 16 | 6"},
		{"915d73d", "19 | 5 | 6 | 3 | 5 | 41 | 14 | 7 | 13 | 7"},
	},
	"batch7": {
		{"a3bd0cb", "31 | 14 | 4 | 12 | 1 | 14 | 3 | 1 | 9 | 1"},
	},
	"batch8": {
		{"a3bd0cb", "45 | 22 | 9 | 11 | 3 | 13 | 5 | 2 | 6 | 0"},
		{"a95577e", "45 | 22 | 10 | 9 | 4 | 13 | 5 | 2 | 6 | 0"},
	},
	"batch9": {
		{"18e91d0", "59 | 29 | 13 | 15 | 2 | 12 | 5 | 1 | 5 | 1"},
		{"a0aa6ca", "59 | 29 | 13 | 15 | 2 | 12 | 5 | 1 | 5 | 1"},
	},
	"batch10": {
		{"18e91d0", "37 | 18 | 10 | 9 | 0 | 16 | 9 | 0 | 4 | 3"},
		{"a0aa6ca", "37 | 19 | 10 | 8 | 0 | 16 | 9 | 0 | 4 | 3"},
	},
	"variants": {
		{"33e5e8f, first 88", "83 | 51 | 7 | 25 | 0 | 5 | 2 | 0 | 3 | 0"},
		{"87abcb1, next 49", "46 | 36 | 0 | 10 | 0 | 3 | 0 | 1 | 2 | 0"},
		{"the code that these asked for, last 43", "41 | 31 | 1 | 8 | 1 | 2 | 0 | 0 | 2 | 0"},
	},
	"batch2": {
		{"7fa05d1", "24 | 11 | 3 | 9 | 1 | 23 | 6 | 0 | 14 | 3"},
		{"0767730", "24 | 11 | 3 | 9 | 1 | 23 | 7 | 1 | 14 | 1"},
	},
}

// TestPublished holds the section of docs/accuracy.md to the goldens.
func TestPublished(t *testing.T) {
	var b strings.Builder
	b.WriteString(sectionBegin + sectionHead)
	for _, batch := range batches(t) {
		for _, m := range measured[batch] {
			fmt.Fprintf(&b, "| %s | %s | %s |\n", batch, m[0], m[1])
		}
		fmt.Fprintf(&b, "| %s | now | %s |\n", batch, tally(readGolden(t, batch), readBatch(t, batch).Cases))
	}
	b.WriteString(sectionEnd)
	data, err := os.ReadFile(accuracyFile)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, _ := strings.Cut(string(data), sectionBegin)
	section, after, found := strings.Cut(rest, sectionEnd)
	if !found {
		t.Fatalf("%s: no part between %q and %q", accuracyFile, sectionBegin, sectionEnd)
	}
	if sectionBegin+section+sectionEnd == b.String() {
		return
	}
	if !*update {
		t.Fatalf("%s is out of date; run go test ./internal/fieldscore -update and look at the difference", accuracyFile)
	}
	if err := os.WriteFile(accuracyFile, []byte(before+b.String()+after), 0o644); err != nil {
		t.Fatal(err)
	}
}
