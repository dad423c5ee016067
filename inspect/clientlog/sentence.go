package clientlog

import (
	_ "embed" // the table
	"slices"
	"strings"
	"sync"

	"github.com/kgdiag/kgdiag/inspect"
	"github.com/kgdiag/kgdiag/inspect/errcode"
	"github.com/kgdiag/kgdiag/internal/pattern"
)

// sentences.tsv holds the log statements of the group code of each library, with the
// versions that have them, whether they are an event or noise, and the parts to take:
// {group}, {member}, {gen} and so on; {} is a part that is passed over.
//
//go:embed sentences.tsv
var sentenceTable string

// sentence is one log statement of one library.
type sentence struct {
	library, versions, level, tag string
	kind                          inspect.LogKind // "" noise, unless it has a sign
	sign                          inspect.Sign
	cause                         inspect.Cause
	err                           string
	template                      string

	parts []part
	size  int // bytes of text that is the library's own
	// whole: the text is so short that only a message that is nothing else counts.
	whole bool
	// family is the client family that the sentence proves; "" where several libraries
	// write it, and for brokers.
	family inspect.Family
}

// part is a piece of a sentence: its own text, or a place that holds something.
type part struct {
	text string // "" a place
	name string // of a place; "" what it holds does not matter
}

// frameEvent is the pseudo kind of a line that says who speaks in the next ones.
const frameEvent inspect.LogKind = "frame"

// wholeBelow is the size below which a sentence is too common to be looked for
// inside of others.
const wholeBelow = 20

// distinct are words that no other program writes.
var distinct = pattern.New(`(?i)kafka|JoinGroup|SyncGroup|OffsetCommit|LeaveGroup|Heartbeat`)

// bareAtLeast is the size from which on a short event counts without a frame that
// tells the library.
const bareAtLeast = 16

var place = pattern.New(`\{(\w*)\}`)

func newSentence(fields []string) sentence {
	s := sentence{library: fields[0], versions: fields[1], level: fields[2], tag: fields[3], kind: inspect.LogKind(fields[4]), sign: inspect.Sign(fields[5]),
		cause: inspect.Cause(fields[6]), err: fields[7], template: fields[8]}
	switch {
	case s.kind == "-" && s.sign != "":
		s.kind = inspect.LogNote
	case s.kind == "-":
		s.kind = ""
	}
	at := 0
	for _, m := range place.FindAllStringSubmatchIndex(s.template, -1) {
		if m[0] > at {
			s.parts = append(s.parts, part{text: s.template[at:m[0]]})
		}
		s.parts = append(s.parts, part{name: s.template[m[2]:m[3]]})
		at = m[1]
	}
	if at < len(s.template) {
		s.parts = append(s.parts, part{text: s.template[at:]})
	}
	for _, p := range s.parts {
		s.size += len(strings.TrimSpace(p.text))
	}
	s.whole = s.size < wholeBelow && !distinct.MatchString(s.template)
	return s
}

// literals are the sentence's own pieces of text.
func (s *sentence) literals() []string {
	var out []string
	for _, p := range s.parts {
		if p.text != "" {
			out = append(out, p.text)
		}
	}
	return out
}

// take holds the sentence against a text and takes its parts; at is where it begins.
func (s *sentence) take(text string) (parts map[string]string, at int, ok bool) {
	first := 0
	if s.parts[0].text == "" {
		first = 1
	}
	if first == len(s.parts) {
		return nil, 0, false
	}
	for from := 0; ; {
		i := strings.Index(text[from:], s.parts[first].text)
		if i < 0 {
			return nil, 0, false
		}
		i += from
		if parts, ok := s.follow(text, first, i); ok {
			begin := i
			if first == 1 {
				begin = lastWord(text[:i])
				put(parts, s.parts[0].name, text[begin:i])
			}
			return parts, begin, true
		}
		from = i + 1
	}
}

// follow matches the parts from the first text on, which stands at i.
func (s *sentence) follow(text string, first, i int) (map[string]string, bool) {
	parts := map[string]string{}
	pos := i + len(s.parts[first].text)
	for k := first + 1; k < len(s.parts); k++ {
		p := s.parts[k]
		if p.text != "" { // two texts in a row do not occur, so this follows a place that took it
			continue
		}
		end := len(text)
		if k+1 < len(s.parts) {
			next := s.parts[k+1].text
			n := strings.Index(text[pos:], next)
			if k+2 == len(s.parts) && len(next) < 4 { // a closing bracket: the last one
				n = strings.LastIndex(text[pos:], next)
			}
			if n < 0 {
				return nil, false
			}
			end = pos + n
		}
		put(parts, p.name, text[pos:end])
		if pos = end; k+1 < len(s.parts) {
			pos += len(s.parts[k+1].text)
		}
	}
	if s.whole && (i != 0 && first == 0 || pos < len(text)) {
		return nil, false
	}
	return parts, true
}

func put(parts map[string]string, name, value string) {
	if _, had := parts[name]; name != "" && !had {
		parts[name] = strings.TrimSpace(value)
	}
}

// lastWord is where the last word before the end of s begins.
func lastWord(s string) int {
	return strings.LastIndexAny(strings.TrimRight(s, " "), " \t") + 1
}

// book is the table in the form that lines are held against.
type book struct {
	sentences []sentence
	words     []wording // of errors
	index     *index    // ids: sentences, then words, then marks
}

// wording is a text by which some client names a Kafka error.
type wording struct {
	text string
	code errcode.Code
}

// marks are texts of lines that are no sentence, but have to be looked at: the heads
// of configurations, pauses of a JVM, and what tells a library's version.
var marks = []string{"Config values:", "application threads were stopped", `Safepoint "`, "kafka-clients-", "twmb/franz-go@v", "IBM/sarama@v",
	"Shopify/sarama@v", "segmentio/kafka-go@v", "unsupported_vsn_range", "Pause Young", "Pause Remark", "Pause Cleanup", "Pause Initial Mark",
	"Pause Init Mark", "Pause Final", "Pause Mark ", "Pause Degenerated", "Pause Relocate", "CommitFailedE", "Pause Full ("}

// library is the book, made when a log is first read.
var library = sync.OnceValue(func() *book {
	b := &book{index: newIndex()}
	for line := range strings.Lines(sentenceTable) {
		if f := strings.Split(strings.TrimRight(line, "\n"), "\t"); !strings.HasPrefix(line, "#") && len(f) == 9 {
			b.sentences = append(b.sentences, newSentence(f))
		}
	}
	b.prove()
	for _, c := range slices.Concat(errcode.All(), errcode.Clients()) {
		b.words = append(b.words, wording{c.Name, c})
		for _, w := range c.Wordings {
			b.words = append(b.words, wording{w, c})
		}
	}
	b.fill()
	return b
})

// prove gives each sentence the family that it proves.
func (b *book) prove() {
	libraries := map[string]map[inspect.Family]bool{}
	key := func(s *sentence) string { return place.ReplaceAllString(strings.TrimRight(s.template, ". {}"), "{}") }
	for i := range b.sentences {
		s := &b.sentences[i]
		if libraries[key(s)] == nil {
			libraries[key(s)] = map[inspect.Family]bool{}
		}
		libraries[key(s)][familyOf(s.library)] = true
	}
	for i := range b.sentences {
		if s := &b.sentences[i]; len(libraries[key(s)]) == 1 {
			s.family = familyOf(s.library)
		}
	}
}

// fill enters everything into the index.
func (b *book) fill() {
	type entry struct {
		id   int32
		text string
	}
	var all []entry
	for i := range b.sentences {
		s := &b.sentences[i]
		l := longest(s.literals())
		if !s.whole || len(l) >= least {
			all = append(all, entry{int32(i), l})
		}
		if s.whole { // how structured loggers frame a short message
			for _, frame := range []string{`message":"%"`, `msg":"%"`, `"M":"%"`, `msg="%"`, `message="%"`, `msg=% `, `] %; `, `INFO: % `} {
				all = append(all, entry{int32(i), strings.Replace(frame, "%", l, 1)})
			}
		}
	}
	for i, w := range b.words {
		all = append(all, entry{int32(len(b.sentences) + i), w.text})
	}
	for i, m := range slices.Concat(marks, printedMarks, toolMarks) {
		all = append(all, entry{int32(len(b.sentences) + len(b.words) + i), m})
	}
	all = slices.DeleteFunc(all, func(e entry) bool { return len(e.text) < least })
	seen := map[uint64]int{}
	for _, e := range all {
		countWindows(seen, e.text)
	}
	for _, e := range all {
		b.index.add(e.id, e.text, seen)
	}
}

// found is what a text was recognised as.
type found struct {
	sentence *sentence
	parts    map[string]string
}

// outweighs reports whether a sentence that begins at begin counts more than another:
// an event that stands inside of noise, then what begins first, then the longer one.
func (s *sentence) outweighs(begin int, other *sentence, at int, l *logLine) bool {
	if (s.kind == "") != (other.kind == "") && begin != at {
		return s.kind != ""
	}
	return begin < at || begin == at && s.weight(l) > other.weight(l)
}

// find holds a message against the sentences: an event before noise, then the one that
// begins first, and of those the longest.
func (b *book) find(l *logLine) (found, bool) {
	var ids [64]int32
	best, at := found{}, -1
	for _, id := range b.candidates(l.text, ids[:0]) {
		if int(id) >= len(b.sentences) {
			continue
		}
		s := &b.sentences[id]
		text := l.text
		if s.whole {
			text = l.message
		}
		parts, begin, ok := s.take(text)
		if !ok || !s.of(l) {
			continue
		}
		if best.sentence == nil || s.outweighs(begin, best.sentence, at, l) {
			best, at = found{s, parts}, begin
		}
	}
	return best, best.sentence != nil
}

// candidates are the ids that may stand in a text; a message that is all short words
// is looked up as structured loggers frame it.
func (b *book) candidates(text string, into []int32) []int32 {
	into = b.index.candidates(text, into)
	if len(text) < wholeBelow+least {
		into = b.index.candidates(`message":"`+text+`"`, into)
	}
	return into
}

// weight orders sentences that begin at one place: more text of its own first, then
// the library that the line is of, then an event before noise.
func (s *sentence) weight(l *logLine) int {
	w := 4 * s.size
	if l.context.family != "" && l.context.family == familyOf(s.library) {
		w += 2
	}
	if s.kind != "" {
		w++
	}
	return w
}

// of reports whether a line can be of the sentence's library: short ones need a frame
// that says so.
func (s *sentence) of(l *logLine) bool {
	if !s.whole {
		return true
	}
	if l.context.family == "" {
		return s.kind != "" && (l.structured || s.size >= bareAtLeast)
	}
	return l.context.family == familyOf(s.library) || s.library == "any"
}

// errorIn finds the Kafka error that a text names, in any client's words; the one
// that stands first counts, one that is harmless only where there is no other.
func (b *book) errorIn(text string) (errcode.Code, bool) {
	if len(text) < least {
		return errcode.Code{}, false
	}
	var ids [64]int32
	best, at, size := errcode.Code{}, -1, 0
	for _, id := range b.index.candidates(text, ids[:0]) {
		n := int(id) - len(b.sentences)
		if n < 0 || n >= len(b.words) {
			continue
		}
		w := b.words[n]
		i := wholeWord(text, w.text)
		if i >= 0 && (at < 0 || best.Harmless && !w.code.Harmless || best.Harmless == w.code.Harmless && (i < at || i == at && len(w.text) > size)) {
			best, at, size = w.code, i, len(w.text)
		}
	}
	if !strings.Contains(text, "[Error ") && !strings.Contains(text, "errno") {
		return best, at >= 0
	}
	if m := errno.FindStringSubmatchIndex(text); m != nil && (at < 0 || m[0] < at) {
		if c, ok := errcode.Lookup(text[m[2]:m[3]]); ok && c.Meaning != "" {
			return c, true
		}
	}
	return best, at >= 0
}

// errno are the forms in which clients write a code as a number alone.
var errno = pattern.New(`(?:\[Error |\berrno[: =]+)(\d{1,3})\b`)

// wholeWord is where w stands in text and is no part of a longer word; -1 nowhere.
func wholeWord(text, w string) int {
	for from := 0; ; {
		i := strings.Index(text[from:], w)
		if i < 0 {
			return -1
		}
		i += from
		end := i + len(w)
		if (i == 0 || !letter(text[i-1]) || !letter(w[0])) && (end == len(text) || !letter(text[end]) || !letter(w[len(w)-1])) {
			return i
		}
		from = i + 1
	}
}

func letter(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z'
}

// familyOf is the client family of a library of the table; "" for brokers and for
// what several share.
func familyOf(library string) inspect.Family {
	switch library {
	case "spring", "smallrye", "alpakka", "reactor-kafka":
		return inspect.Java
	case "confluent-kafka-javascript", "karafka":
		return inspect.Librdkafka
	case "faust":
		return inspect.AIOKafka
	case "broker", "any", "eventhubs":
		return ""
	}
	return inspect.Family(library)
}
