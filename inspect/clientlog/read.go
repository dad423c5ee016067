package clientlog

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/kgdiag/kgdiag/inspect"
	"github.com/kgdiag/kgdiag/internal/pattern"
)

// Options say what the text itself does not.
type Options struct {
	// Zone is the zone of times that carry none; nil is UTC.
	Zone *time.Location
	// Day is the date of times that carry none ("14:43:13.123"); zero leaves such
	// times unknown.
	Day time.Time
	// Start is when the JVM started, for GC logs that count uptime; zero leaves such
	// times unknown.
	Start time.Time
}

// Handler takes what is found, in the order of the text. Either function may be nil;
// an error from one ends the reading and is returned.
type Handler struct {
	Event  func(inspect.LogEvent) error
	Config func(inspect.ClientConfig) error
}

// Summary says what a reading covered.
type Summary struct {
	Lines   int64 // lines of text
	Bytes   int64 // after decompression
	Events  int64
	Configs int64
	Untimed int64 // events without a time
	Cut     int64 // lines over MaxLine, of which only the start was read
	// FirstCut is the number of the first of these, from 1; 0 for none.
	FirstCut int64
	// Known counts the messages that were recognised as of a group's code or naming a
	// Kafka error, events or not; Zoneless the events whose time tells no zone.
	Known, Zoneless int64
}

// MaxLine is the longest line that is read whole, in bytes.
const MaxLine = 1 << 20

// ErrNotText is returned for input that is neither text nor gzip of text.
var ErrNotText = errors.New("not text")

// Nothing reports whether the text had nothing of consumer groups in it: no line of
// any client's or coordinator's group code, no Kafka error, no configuration.
func (s Summary) Nothing() bool { return s.Known == 0 && s.Events == 0 && s.Configs == 0 }

// Read streams a log. A log of group code in which nothing happened gives one event
// of the kind LogNote. The name is what events give as their file; it is not opened.
// Errors: those of r, ErrNotText, a damaged gzip stream, and the handler's own.
func Read(r io.Reader, name string, o Options, h Handler) (Summary, error) {
	if o.Zone == nil {
		o.Zone = time.UTC
	}
	br := bufio.NewReaderSize(r, MaxLine)
	if magic, _ := br.Peek(2); bytes.Equal(magic, []byte{0x1f, 0x8b}) {
		zr, err := gzip.NewReader(br)
		if err != nil {
			return Summary{}, fmt.Errorf("%s: gzip: %w", name, err)
		}
		defer zr.Close()
		br = bufio.NewReaderSize(zr, MaxLine)
	}
	if head, _ := br.Peek(4096); bytes.IndexByte(head, 0) >= 0 {
		return Summary{}, fmt.Errorf("%s: %w", name, ErrNotText)
	}
	rd := &reader{name: name, o: o, h: h, book: library(), streams: map[string]*stream{}, told: map[string]bool{}, names: map[string]string{}}
	err := rd.all(br)
	if err == nil {
		err = rd.finish()
	}
	if err != nil {
		return rd.sum, fmt.Errorf("%s: %w", name, err)
	}
	return rd.sum, nil
}

// reader is the state of one reading.
type reader struct {
	name    string
	o       Options
	h       Handler
	sum     Summary
	book    *book
	streams map[string]*stream // by the prefix that names a container
	open    int                // streams with an open configuration block
	names   map[string]string  // of events, each once
	// prefixed: lines begin with names of containers, so that each line has a stream.
	prefixed bool
	told     map[string]bool // library versions and settings that were already told
	table    *groupTable     // of kafka-consumer-groups.sh, while it is read
	// replicas and leastInSync are of __consumer_offsets, as kafka-topics.sh told them.
	replicas, leastInSync int
	// first is the first line of a group's code that is no event: it stands for a log
	// in which nothing happened.
	first *inspect.LogEvent
}

// stream is the state of one of several interleaved logs.
type stream struct {
	time    inspect.Time  // of the last line that had one
	context lineContext   // of that line, for the lines that continue it
	block   *configBlock  // an open "… values:" block
	listed  []pair        // librdkafka's own list of its settings, while it is read
	pending []configBlock // closed blocks that wait for the version line after them
	head    []byte        // the start of the last line that may have a time, and was not read
	spoke   inspect.Time  // when the group code last wrote a line
	// delegated is a rebalance that librdkafka handed to the application, until the join
	// state changes.
	delegated *inspect.LogEvent
	quiet     time.Duration // the longest time in which it wrote none, since the last join
	sent      inspect.Time  // when the last heartbeat went out, where the log tells
}

// headLength is how much of a line is kept for the lines that continue it.
const headLength = 120

// keepHead remembers the start of a line that is of no interest by itself: a stack
// trace that follows it has its time from there.
func (s *stream) keepHead(line []byte) {
	head := line[:min(len(line), headLength)]
	if i := bytes.IndexByte(head, ':'); i < 0 || i > 60 || len(head) < i+4 || head[i+3] != ':' && (i < 2 || head[i+1] < '0' || head[i+1] > '9') {
		return // no clock in it
	}
	s.head = append(s.head[:0], head...)
}

func (rd *reader) plainHead(line []byte) {
	rd.stream("").keepHead(line)
}

// place gives a line that continues another one the time and the speaker of that.
func (s *stream) place(l *logLine, o Options) {
	if !l.time.IsZero() {
		s.time, s.context, s.head = l.time, l.context, s.head[:0]
		return
	}
	if len(s.head) > 0 {
		of := plainLine(strings.ToValidUTF8(string(s.head), ""), o)
		if s.head = s.head[:0]; !of.time.IsZero() {
			s.time, s.context = of.time, lineContext{family: s.context.family}
		}
	}
	l.time = s.time
	l.context.inherit(s.context)
}

// heartbeats keeps the time of the last heartbeat for the line that says the session
// is lost; it reports whether the event was only that.
func (s *stream) heartbeats(ev *inspect.LogEvent, l *logLine) bool {
	switch {
	case ev.Sign == inspect.SignHeartbeatSent || ev.Sign == "heartbeat_ok":
		s.sent = l.time
		return true
	case ev.Sign == inspect.SignSessionLost && ev.Length == nil && !s.sent.IsZero() && l.time.After(s.sent.Time):
		ev.Length = inspect.Ms(l.time.Sub(s.sent.Time))
	}
	return false
}

// maxStreams bounds the interleaved logs that are told apart; further ones share a
// state.
const maxStreams = 4096

func (rd *reader) stream(key string) *stream {
	if s := rd.streams[key]; s != nil {
		return s
	}
	if len(rd.streams) >= maxStreams {
		key = ""
		if s := rd.streams[key]; s != nil {
			return s
		}
	}
	s := &stream{}
	rd.streams[key] = s
	return s
}

func (rd *reader) all(br *bufio.Reader) error {
	for {
		line, err := br.ReadSlice('\n')
		rd.sum.Bytes += int64(len(line))
		if len(line) > 0 {
			rd.sum.Lines++
			if herr := rd.line(trimEOL(line)); herr != nil {
				return herr
			}
		}
		for errors.Is(err, bufio.ErrBufferFull) {
			if rd.sum.Cut++; rd.sum.FirstCut == 0 {
				rd.sum.FirstCut = rd.sum.Lines
			}
			var more []byte
			for errors.Is(err, bufio.ErrBufferFull) {
				more, err = br.ReadSlice('\n')
				rd.sum.Bytes += int64(len(more))
			}
		}
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
	}
}

func trimEOL(b []byte) []byte {
	return bytes.TrimSuffix(bytes.TrimSuffix(b, []byte("\n")), []byte("\r"))
}

// line handles one physical line.
func (rd *reader) line(raw []byte) error {
	if rd.table != nil {
		if len(bytes.TrimSpace(raw)) == 0 || rd.table.row(strings.ToValidUTF8(string(raw), "")) {
			return nil
		}
		if err := rd.closeTable(); err != nil {
			return err
		}
	}
	if rd.open == 0 && !rd.prefixed && !rd.book.index.may(raw) && !collector(raw) {
		rd.plainHead(raw)
		return nil
	}
	if rd.openTable(raw) {
		return nil
	}
	if told, err := rd.offsetsTopic(string(raw)); told {
		return err
	}
	key, rest := unwrap(raw)
	rd.prefixed = rd.prefixed || key != ""
	s := rd.stream(key)
	if s.block != nil && rd.continueBlock(s, rest) {
		return nil
	}
	if !rd.book.index.may(rest) && !collector(rest) {
		s.keepHead(rest)
		return nil
	}
	lines := logicalLines(rest, rd.o)
	if len(lines) > 0 {
		if err := rd.printed(s, &lines[0], string(rest)); err != nil {
			return err
		}
	}
	for i := range lines {
		if err := rd.logical(s, key, &lines[i]); err != nil {
			return err
		}
	}
	return nil
}

// logical handles one message with what is known about it.
func (rd *reader) logical(s *stream, process string, l *logLine) error {
	s.place(l, rd.o)
	if rd.openBlock(s, *l) {
		return nil
	}
	if err := rd.versions(s, process, l); err != nil {
		return err
	}
	ev, known, ok := match(l)
	if known {
		rd.sum.Known++
		if rd.first == nil && !ok {
			note := l.event(inspect.LogNote)
			note.Time, note.Process, note.Text = l.time, process, quote(withoutLogger(l.raw))
			note.From = inspect.Position{File: rd.name, Line: int(rd.sum.Lines)}
			rd.first = &note
		}
	}
	if l.context.family != "" && s.context.family == "" {
		s.context.family = l.context.family
	}
	if l.context.gen != "" || l.context.group != "" {
		s.context.group, s.context.gen = l.context.group, l.context.gen
	}
	if known && !l.time.IsZero() {
		s.silence(&ev, l.time)
	}
	if s.delegated != nil && strings.Contains(l.text, "changed join state") {
		s.delegated = nil
	}
	if !ok || s.heartbeats(&ev, l) {
		return nil
	}
	if ev.Kind == inspect.LogVersion {
		if err := rd.version(s, ev); err != nil {
			return err
		}
	}
	ev.Time, ev.Process = l.time, process
	if !l.time.IsZero() && !l.zoned {
		rd.sum.Zoneless++
	}
	ev.From = inspect.Position{File: rd.name, Line: int(rd.sum.Lines)}
	ev.Text = quote(withoutLogger(l.raw))
	if ev.Sign == inspect.SignCallbackStart {
		s.delegated = &ev
		return nil
	}
	return rd.emit(ev)
}

// silence gives an eviction or a refused commit the longest time in which the group code wrote nothing since
// the last join.
func (s *stream) silence(ev *inspect.LogEvent, now inspect.Time) {
	if !s.spoke.IsZero() && now.After(s.spoke.Time) {
		s.quiet = max(s.quiet, now.Sub(s.spoke.Time))
	}
	s.spoke = now
	refused := ev.Kind == inspect.LogCommitFailed && (ev.Error == "UNKNOWN_MEMBER_ID" || ev.Error == "ILLEGAL_GENERATION")
	switch {
	case s.quiet > 0 && (ev.Kind == inspect.LogEvicted || refused):
		ev.Quiet = inspect.Ms(s.quiet)
		s.quiet = 0
	case ev.Kind == inspect.LogJoined:
		s.quiet = 0
	}
}

func (rd *reader) emit(ev inspect.LogEvent) error {
	rd.sum.Events++
	if ev.Time.IsZero() {
		rd.sum.Untimed++
	}
	if rd.h.Event == nil {
		return nil
	}
	rd.hold(&ev)
	return rd.h.Event(ev)
}

// mostNames bounds the names that are kept once for all events that have them.
const mostNames = 1 << 16

// hold keeps each name once, however many events have it, and lets go of the line that it
// is a part of: a log of a gigabyte has few names and many lines.
func (rd *reader) hold(ev *inspect.LogEvent) {
	for _, s := range []*string{&ev.Group, &ev.ClientID, &ev.MemberID, &ev.InstanceID, &ev.Thread, &ev.Process, &ev.Version, &ev.State, &ev.API, &ev.Topics, &ev.Reason, &ev.Text} {
		had, ok := rd.names[*s]
		switch {
		case *s == "":
		case ok:
			*s = had
		default:
			*s = strings.Clone(*s)
			if len(rd.names) < mostNames {
				rd.names[*s] = *s
			}
		}
	}
}

// finish hands out the blocks that no version line followed.
func (rd *reader) finish() error {
	if err := rd.closeTable(); err != nil {
		return err
	}
	for _, s := range rd.streams {
		if s.block != nil {
			s.pending = append(s.pending, *s.block)
			s.block = nil
		}
		if err := rd.flush(s, ""); err != nil {
			return err
		}
		if err := rd.listed(s); err != nil {
			return err
		}
		if err := rd.pendingCallback(s); err != nil {
			return err
		}
	}
	if rd.sum.Events == 0 && rd.first != nil {
		return rd.emit(*rd.first)
	}
	return nil
}

// leastPending is how long the group code of a log must go on behind a rebalance that was
// handed to the application, before that is said to be pending.
const leastPending = time.Second

// pendingCallback hands out a rebalance that was handed to the application and never came
// back, though the log goes on.
func (rd *reader) pendingCallback(s *stream) error {
	ev := s.delegated
	if ev == nil || ev.Time.IsZero() || s.spoke.Sub(ev.Time.Time) < leastPending {
		return nil
	}
	ev.Sign, ev.Length = inspect.SignCallbackPending, inspect.Ms(s.spoke.Sub(ev.Time.Time))
	return rd.emit(*ev)
}

var jarVersion = pattern.New(`kafka-clients-(\d[\w.]*?)\.jar`)

// versions reports a library's version that stands beside a message, once.
func (rd *reader) versions(s *stream, process string, l *logLine) error {
	ev := inspect.LogEvent{Kind: inspect.LogVersion, Process: process}
	if l.context.version != "" {
		ev.Family, ev.Version = l.context.family, l.context.version
	} else if strings.Contains(l.text, "kafka-clients-") {
		if m := jarVersion.FindStringSubmatch(l.text); m != nil {
			ev.Family, ev.Version = inspect.Java, m[1]
		}
	} else if strings.Contains(l.text, "@v") {
		if m := goModule.FindStringSubmatch(l.text); m != nil {
			ev.Family, ev.Version = goFamily[strings.ToLower(m[1])], m[2]
		}
	}
	key := process + " " + string(ev.Family) + " " + ev.Version
	if ev.Version == "" || rd.told[key] {
		return nil
	}
	rd.told[key] = true
	ev.Time, ev.Group = l.time, l.context.group
	ev.From = inspect.Position{File: rd.name, Line: int(rd.sum.Lines)}
	ev.Text = quote(withoutLogger(l.raw))
	return rd.emit(ev)
}
