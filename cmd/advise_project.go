package cmd

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/kgdiag/kgdiag/advise"
	"github.com/kgdiag/kgdiag/inspect"
)

// projectName is the file that advise looks for in the working directory.
const projectName = ".kgdiag.yaml"

// projectFile is what a team agreed on for its groups.
//
//	rules:
//	  disable: [KGD106]
//	  severity: {KGD403: error}
//	groups:
//	  orders: {batch-time: 8m}
type projectFile struct {
	Rules struct {
		Disable  []string                   `yaml:"disable"`
		Severity map[string]advise.Severity `yaml:"severity"`
	} `yaml:"rules"`
	Groups map[string]struct {
		BatchTime string `yaml:"batch-time"`
	} `yaml:"groups"`

	times map[string]time.Duration
}

// readProject reads the project file; one that is not there counts as empty unless
// the user named it.
func readProject(name string, named bool) (projectFile, error) {
	var p projectFile
	if name == "" {
		return p, nil
	}
	data, err := os.ReadFile(name)
	switch {
	case errors.Is(err, os.ErrNotExist) && !named:
		return p, nil
	case err != nil:
		return p, inspect.NewFileError(name, err)
	}
	dec := yaml.NewDecoder(bytes.NewReader(data))
	dec.KnownFields(true)
	if err := dec.Decode(&p); err != nil && !errors.Is(err, io.EOF) {
		return p, &problem{code: exitUsage, err: fmt.Errorf("%s: %w", name, err), hint: "keys are rules.disable, rules.severity and groups.NAME.batch-time"}
	}
	return p, p.check(name)
}

func (p *projectFile) check(name string) error {
	for id, s := range p.Rules.Severity {
		if _, ok := advise.Lookup(id); !ok {
			return usagef("%s: rules.severity: %s: no such rule", name, id)
		}
		if s.Rank() == 0 {
			return usagef("%s: rules.severity: %s: %q: want info, warning or error", name, id, s)
		}
	}
	p.times = map[string]time.Duration{}
	for group, g := range p.Groups {
		if g.BatchTime == "" {
			continue
		}
		d, err := parseSpan(fmt.Sprintf("%s: groups.%s.batch-time", name, group), g.BatchTime)
		if err != nil {
			return err
		}
		p.times[group] = d
	}
	return nil
}

func (p *projectFile) severities() map[string]advise.Severity {
	out := map[string]advise.Severity{}
	for word, s := range p.Rules.Severity {
		if r, ok := advise.Lookup(word); ok {
			out[r.ID] = s
		}
	}
	return out
}

func (p *projectFile) batchTimes() map[string]time.Duration { return p.times }
