package inspect

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// MaxCaseSize bounds what a case file may unpack to, so that a hostile one cannot
// fill the memory: 1 GiB.
const MaxCaseSize = 1 << 30

// WriteCase writes a case file: gzip over one JSON document that starts with its
// schema. What a Case holds contains no secret: values of secret settings are never
// kept.
func WriteCase(w io.Writer, c *Case) error {
	zw := gzip.NewWriter(w)
	enc := json.NewEncoder(zw)
	enc.SetEscapeHTML(false)
	out := *c
	out.Schema = CaseSchema
	if err := enc.Encode(&out); err != nil {
		return fmt.Errorf("case: %w", err)
	}
	if err := zw.Close(); err != nil {
		return fmt.Errorf("case: %w", err)
	}
	return nil
}

// ReadCase reads a case file, compressed or not. The errors say what is wrong with
// the file: not a case, damaged, of another version, or larger than a case can be. The
// memory that it takes is bounded by 96 MiB and a multiple of the file's size.
func ReadCase(r io.Reader) (*Case, error) {
	file := &counter{r: r}
	br := bufio.NewReader(file)
	head, err := br.Peek(2)
	if err != nil {
		return nil, errors.New("empty, want a case file as record writes it")
	}
	src := io.Reader(br)
	switch {
	case head[0] == 0x1f && head[1] == 0x8b:
		zr, err := gzip.NewReader(br)
		if err != nil {
			return nil, fmt.Errorf("damaged: %w", err)
		}
		defer zr.Close()
		src = zr
	case head[0] != '{':
		return nil, errors.New("not a case file: want gzip or JSON, as record writes it")
	}
	var c Case
	dec := json.NewDecoder(&budget{r: src, packed: file})
	if err := dec.Decode(&c); err != nil {
		return nil, caseError(err)
	}
	switch {
	case c.Schema == CaseSchema:
	case strings.HasPrefix(c.Schema, "kgdiag.case/"):
		return nil, fmt.Errorf("schema %s: this version reads %s; take a newer kgdiag", c.Schema, CaseSchema)
	case strings.HasPrefix(c.Schema, "kgdiag."):
		return nil, fmt.Errorf("schema %s: a result, not a case; record writes cases", c.Schema)
	default:
		return nil, fmt.Errorf("no case file: its schema is %q, want %s", c.Schema, CaseSchema)
	}
	// What follows the document would be lost silently.
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("damaged: something follows the document")
	}
	return &c, nil
}

// caseError says what is wrong with a document that does not decode.
func caseError(err error) error {
	var syntax *json.SyntaxError
	var typ *json.UnmarshalTypeError
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		return errors.New("damaged: it ends in the middle")
	case errors.As(err, &syntax):
		return fmt.Errorf("damaged: %w at byte %d", syntax, syntax.Offset)
	case errors.As(err, &typ):
		return fmt.Errorf("field %s: %s where %s is wanted", typ.Field, typ.Value, typ.Type)
	case errors.Is(err, errCostly), errors.Is(err, errLarge):
		return err
	}
	return fmt.Errorf("damaged: %w", err)
}
