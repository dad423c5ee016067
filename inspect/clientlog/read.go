package clientlog

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/kgdiag/kgdiag/inspect"
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
	Cut     int64 // lines over maxLine, of which only the start was read
}

// maxLine is the longest line that is read whole, in bytes.
const maxLine = 1 << 20

// ErrNotText is returned for input that is neither text nor gzip of text.
var ErrNotText = errors.New("not text")

// Read streams a log. The name is what events give as their file; it is not opened.
// Errors: those of r, ErrNotText, a damaged gzip stream, and the handler's own.
func Read(r io.Reader, name string, o Options, h Handler) (Summary, error) {
	if o.Zone == nil {
		o.Zone = time.UTC
	}
	br := bufio.NewReaderSize(r, maxLine)
	if magic, _ := br.Peek(2); bytes.Equal(magic, []byte{0x1f, 0x8b}) {
		zr, err := gzip.NewReader(br)
		if err != nil {
			return Summary{}, fmt.Errorf("%s: gzip: %w", name, err)
		}
		defer zr.Close()
		br = bufio.NewReaderSize(zr, maxLine)
	}
	if head, _ := br.Peek(4096); bytes.IndexByte(head, 0) >= 0 {
		return Summary{}, fmt.Errorf("%s: %w", name, ErrNotText)
	}
	rd := &reader{name: name, o: o, h: h, streams: map[string]*stream{}}
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
	streams map[string]*stream // by the prefix that names a container
	open    int                // streams with an open configuration block
}

// stream is the state of one of several interleaved logs.
type stream struct {
	time    inspect.Time  // of the last line that had one
	context lineContext   // of that line, for the lines that continue it
	block   *configBlock  // an open "… values:" block
	pending []configBlock // closed blocks that wait for the version line after them
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
			rd.sum.Cut++
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
	if rd.open == 0 && !interesting(raw) {
		return nil
	}
	key, rest := unwrap(raw)
	s := rd.stream(key)
	if s.block != nil && rd.continueBlock(s, rest) {
		return nil
	}
	if !interesting(rest) {
		return nil
	}
	for _, text := range logicalLines(rest, rd.o) {
		if err := rd.logical(s, text); err != nil {
			return err
		}
	}
	return nil
}

// logical handles one message with what is known about it.
func (rd *reader) logical(s *stream, l logLine) error {
	if l.time.IsZero() {
		l.time = s.time // a continuation: a stack trace, a quoted exception
		l.context.inherit(s.context)
	} else {
		s.time, s.context = l.time, l.context
	}
	if rd.openBlock(s, l) {
		return nil
	}
	ev, ok := match(l)
	if !ok {
		return nil
	}
	if ev.Kind == inspect.LogVersion {
		if err := rd.version(s, ev); err != nil {
			return err
		}
	}
	ev.Time = l.time
	ev.From = inspect.Position{File: rd.name, Line: int(rd.sum.Lines)}
	ev.Text = quote(l.text)
	return rd.emit(ev)
}

func (rd *reader) emit(ev inspect.LogEvent) error {
	rd.sum.Events++
	if ev.Time.IsZero() {
		rd.sum.Untimed++
	}
	if rd.h.Event == nil {
		return nil
	}
	return rd.h.Event(ev)
}

// finish hands out the blocks that no version line followed.
func (rd *reader) finish() error {
	for _, s := range rd.streams {
		if s.block != nil {
			s.pending = append(s.pending, *s.block)
			s.block = nil
		}
		if err := rd.flush(s, ""); err != nil {
			return err
		}
	}
	return nil
}
