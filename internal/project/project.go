package project

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"go.yaml.in/yaml/v3"

	"github.com/kgdiag/kgdiag/advise"
	"github.com/kgdiag/kgdiag/inspect"
	"github.com/kgdiag/kgdiag/internal/prose"
)

// File is the name that is looked for in the working directory.
const File = ".kgdiag.yaml"

// MaxSize bounds the file, in bytes: it is read without being named, so a foreign
// repository may have put anything there.
const MaxSize = 1 << 20

// Project is what a team agreed on. The zero Project is an empty file.
type Project struct {
	Disable    []string                   // ids or names of rules that are not run
	Severities map[string]advise.Severity // by rule id
	BatchTimes map[string]inspect.Millis  // by group; the longest time between two polls
}

// file is the form of the file:
//
//	rules:
//	  disable: [KGD106]
//	  severity: {KGD403: error}
//	groups:
//	  orders: {batch-time: 8m}
type file struct {
	Rules struct {
		Disable  []string                   `yaml:"disable"`
		Severity map[string]advise.Severity `yaml:"severity"`
	} `yaml:"rules"`
	Groups map[string]struct {
		BatchTime string `yaml:"batch-time"`
	} `yaml:"groups"`
}

// Parse reads a project file of this name. Errors are *inspect.FileError.
func Parse(name string, data []byte) (Project, error) {
	var f file
	dec := yaml.NewDecoder(bytes.NewReader(data))
	dec.KnownFields(true)
	if err := dec.Decode(&f); err != nil && !errors.Is(err, io.EOF) {
		return Project{}, &inspect.FileError{Err: fmt.Errorf("%s: %w", name, prose.YAMLError(err)), Help: "keys are rules.disable, rules.severity and groups.NAME.batch-time"}
	}
	p := Project{Disable: f.Rules.Disable, Severities: map[string]advise.Severity{}, BatchTimes: map[string]inspect.Millis{}}
	for word, s := range f.Rules.Severity {
		r, ok := advise.Lookup(word)
		if !ok {
			return p, &inspect.FileError{Err: fmt.Errorf("%s: rules.severity: %s: no such rule", name, word)}
		}
		if s.Rank() == 0 {
			return p, &inspect.FileError{Err: fmt.Errorf("%s: rules.severity: %s: %q: want info, warning or error", name, word, s)}
		}
		p.Severities[r.ID] = s
	}
	for group, g := range f.Groups {
		if g.BatchTime == "" {
			continue
		}
		d, err := prose.ParseSpan(g.BatchTime)
		if err != nil {
			return p, &inspect.FileError{Err: fmt.Errorf("%s: groups.%s.batch-time %w", name, group, err)}
		}
		p.BatchTimes[group] = inspect.Millis(d)
	}
	return p, nil
}
