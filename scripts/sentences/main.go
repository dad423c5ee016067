// Command sentences takes the log statements out of a library's source at a release and
// says which of them inspect/clientlog/sentences.tsv lacks, as rows to classify there.
//
//	go run ./scripts/sentences -library aiokafka -clone DIR -tag v0.14.0
//
// DIR is a clone of the library, bare or not, with its tags. Only the literal texts of
// statements are taken. A statement whose text is put together at run time is not found;
// the table has some that were found by hand.
package main

import (
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"os/exec"
	"regexp"
	"sort"
	"strings"
)

// source says where a library has the code of its groups, and in which language.
type source struct {
	files    *regexp.Regexp
	language string
}

var sources = map[string]source{
	"java":         {regexp.MustCompile(`^clients/src/main/java/org/apache/kafka/clients/(?:consumer/internals/|NetworkClient|Metadata)[^/]*\.java$`), "java"},
	"streams":      {regexp.MustCompile(`^streams/src/main/java/.*/(?:StreamThread|KafkaStreams|TaskManager|StreamsPartitionAssignor|RebalanceListener)[^/]*\.java$`), "java"},
	"connect":      {regexp.MustCompile(`^connect/runtime/src/main/java/.*/(?:distributed/|WorkerSinkTask)[^/]*\.java$`), "java"},
	"broker":       {regexp.MustCompile(`^(?:core/src/main/scala/kafka/coordinator/group/|group-coordinator/src/main/java/)`), "java"},
	"spring":       {regexp.MustCompile(`^spring-kafka/src/main/java/.*/listener/[^/]*\.java$`), "java"},
	"librdkafka":   {regexp.MustCompile(`^src/rdkafka_(?:cgrp|request|broker|coord|assignor|partition|offset|queue|conf)\.c$|^src/rdkafka\.c$`), "c"},
	"sarama":       {regexp.MustCompile(`^(?:consumer|consumer_group|client|broker|offset_manager)\.go$`), "go"},
	"franz-go":     {regexp.MustCompile(`^pkg/kgo/(?:consumer[^/]*|client|broker|group_balancer)\.go$`), "go"},
	"kafka-go":     {regexp.MustCompile(`^(?:reader|consumergroup)\.go$`), "go"},
	"kafka-python": {regexp.MustCompile(`^kafka/(?:coordinator|consumer)/.*\.py$|^kafka/client_async\.py$`), "python"},
	"aiokafka":     {regexp.MustCompile(`^aiokafka/(?:consumer/[^/]*|client)\.py$`), "python"},
	"kafkajs":      {regexp.MustCompile(`^src/(?:consumer|network|cluster)/[^/]*\.js$`), "javascript"},
	"ruby-kafka":   {regexp.MustCompile(`^lib/kafka/(?:consumer|consumer_group|offset_manager|fetcher|heartbeat)[^/]*\.rb$`), "ruby"},
	"brod":         {regexp.MustCompile(`^src/brod_group_[^/]*\.erl$`), "erlang"},
	"kafka_ex":     {regexp.MustCompile(`^lib/kafka_ex/.*consumer.*\.ex$`), "elixir"},
}

// statement is a log statement as the source has it.
type statement struct {
	level, tag, template string
}

// literals is one or more adjacent string literals of a language, with what joins them.
const literals = `((?:[fbru]?"(?:[^"\\]|\\.)*"|[fbru]?'(?:[^'\\]|\\.)*'|<<"(?:[^"\\]|\\.)*">>|\x60[^\x60]*\x60|\bPRI\w+|\s|\+)+)`

var calls = map[string]*regexp.Regexp{
	"java":       regexp.MustCompile(`\b(?:log|logger|LOGGER|LOG)\.(trace|debug|info|warn|error)\s*\(\s*` + literals),
	"python":     regexp.MustCompile(`\blog(?:ger)?\.(debug|info|warning|error|exception|critical)\(\s*` + literals),
	"c":          regexp.MustCompile(`\brd_(?:kafka|rkb)_(dbg|log)\w*\(([^;"]*)"(\w+)",\s*` + literals),
	"go":         regexp.MustCompile(`\b(?:Logger|DebugLogger|logger|log\w*)\.(Printf|Println|Print|Log|Debugf|Infof|Warnf|Errorf)\(\s*(?:LogLevel\w+,\s*)?` + literals),
	"javascript": regexp.MustCompile(`\blogger\.(debug|info|warn|error)\(\s*` + literals),
	"ruby":       regexp.MustCompile(`\blogger\.(debug|info|warn|error)[\s(]\s*` + literals),
	"erlang":     regexp.MustCompile(`\?(?:BROD_)?LOG_?(DEBUG|INFO|WARNING|ERROR)?\w*\(\s*(?:\w+,\s*)*` + literals),
	"elixir":     regexp.MustCompile(`\bLogger\.(debug|info|warn|warning|error)\(\s*(?:fn\s*->\s*)?` + literals),
}

func main() {
	library := flag.String("library", "", "one of "+strings.Join(names(), ", "))
	clone := flag.String("clone", "", "directory of a clone of the library")
	tag := flag.String("tag", "HEAD", "release to read")
	table := flag.String("table", "inspect/clientlog/sentences.tsv", "the table to compare with; \"\" lists all statements")
	flag.Parse()
	log.SetFlags(0)
	s, ok := sources[*library]
	if !ok || *clone == "" {
		log.Fatalf("want -library (%s) and -clone", strings.Join(names(), ", "))
	}
	known := map[string]bool{}
	if *table != "" {
		data, err := os.ReadFile(*table)
		if err != nil {
			log.Fatal(err)
		}
		known = templates(string(data), *library)
	}
	found := map[statement]bool{}
	for _, file := range strings.Fields(git(*clone, "ls-tree", "-r", "--name-only", *tag)) {
		if s.files.MatchString(file) {
			for _, st := range statements(s.language, git(*clone, "show", *tag+":"+file)) {
				found[st] = true
			}
		}
	}
	if len(found) == 0 {
		log.Fatalf("%s at %s: no log statement found", *library, *tag)
	}
	write(os.Stdout, *library, strings.TrimPrefix(*tag, "v"), found, known)
}

func names() []string {
	var out []string
	for n := range sources {
		out = append(out, n)
	}
	sort.Strings(out)
	return out
}

func git(dir string, args ...string) string {
	b, err := exec.Command("git", append([]string{"-C", dir}, args...)...).Output()
	if err != nil {
		log.Fatalf("git %s: %v", strings.Join(args, " "), err)
	}
	return string(b)
}

// write lists the statements that the table lacks as rows of it, unclassified: "-".
func write(w io.Writer, library, version string, found map[statement]bool, known map[string]bool) {
	var rows []string
	for st := range found {
		if !known[plain(st.template)] {
			rows = append(rows, strings.Join([]string{library, version + "-", st.level, st.tag, "-", "", "", "", st.template}, "\t"))
		}
	}
	sort.Strings(rows)
	for _, r := range rows {
		fmt.Fprintln(w, r)
	}
	fmt.Fprintf(w, "# %d statements, %d of them not in the table\n", len(found), len(rows))
}

// templates are the texts that the table has of a library, without the names of places.
func templates(table, library string) map[string]bool {
	out := map[string]bool{}
	for line := range strings.Lines(table) {
		if f := strings.Split(strings.TrimRight(line, "\n"), "\t"); len(f) == 9 && f[0] == library {
			out[plain(f[8])] = true
		}
	}
	return out
}

var place = regexp.MustCompile(`\{\w*\}`)

// plain is a template by which two spellings of one statement are the same.
func plain(template string) string {
	return strings.Trim(place.ReplaceAllString(template, "{}"), " .,;:!{}")
}

// statements are the log statements in a source text.
func statements(language, text string) []statement {
	var out []statement
	for _, m := range calls[language].FindAllStringSubmatch(text, -1) {
		st := statement{level: strings.ToLower(m[1]), template: template(language, m[len(m)-1])}
		if language == "c" {
			st.level, st.tag = levelOfC(m[1], m[2]), m[3]
		}
		if strings.Trim(st.template, " {}.,:") != "" {
			out = append(out, st)
		}
	}
	return out
}

// levelOfC reads librdkafka's level from a call's arguments.
func levelOfC(call, arguments string) string {
	if m := regexp.MustCompile(`LOG_(\w+)`).FindStringSubmatch(arguments); call == "log" && m != nil {
		return strings.ToLower(m[1])
	}
	return "debug"
}

var (
	literal = regexp.MustCompile(`"((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)'|\x60([^\x60]*)\x60|\b(PRI\w+)`)
	formats = map[string]*regexp.Regexp{
		"c":          regexp.MustCompile(`%[-+ #0-9.*]*(?:hh|h|ll|l|z)?[a-zA-Z]|%$`),
		"go":         regexp.MustCompile(`%[-+ #0-9.]*[a-zA-Z]`),
		"python":     regexp.MustCompile(`%(?:\(\w+\))?[-+ #0-9.]*[sdrfix]|\{[^{}]*\}`),
		"java":       regexp.MustCompile(`\{\}|%[-+ #0-9.]*[sdn]|\$\{[^}]*\}|\$\w+`),
		"javascript": regexp.MustCompile(`\$\{[^}]*\}`),
		"ruby":       regexp.MustCompile(`#\{[^}]*\}`),
		"erlang":     regexp.MustCompile(`~\d*[psw]`),
		"elixir":     regexp.MustCompile(`#\{[^}]*\}`),
	}
	escapes = strings.NewReplacer(`\n`, " ", `\t`, " ", `\"`, `"`, `\'`, `'`, `\\`, `\`)
)

// template joins the literals of a statement and puts {} where it is filled in.
func template(language, text string) string {
	var b strings.Builder
	for _, m := range literal.FindAllStringSubmatch(text, -1) {
		b.WriteString(m[1] + m[2] + m[3]) // a macro of a C format ends the % before it
		if m[4] != "" {
			b.WriteString("d")
		}
	}
	out := formats[language].ReplaceAllString(b.String(), "{}")
	return strings.Join(strings.Fields(escapes.Replace(out)), " ")
}
