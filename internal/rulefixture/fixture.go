package rulefixture

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/kgdiag/kgdiag/inspect"
	"github.com/kgdiag/kgdiag/inspect/clientconf"
	"github.com/kgdiag/kgdiag/inspect/clientlog"
)

// Fixture is one archive.
type Fixture struct {
	Path string
	Rule string // the folder: a rule's id
	Kind string // "fires", "quiet" or "unknown", from the file name
	Case inspect.Case
	// Args are the arguments of advise that come to the same, for the documentation.
	Args []string
	Want string

	archive *txtar.Archive
}

// All loads every fixture under a directory of rule folders, by path.
func All(dir string) ([]Fixture, error) {
	paths, err := filepath.Glob(filepath.Join(dir, "KGD*", "*.txtar"))
	if err != nil {
		return nil, err
	}
	sort.Strings(paths)
	out := make([]Fixture, 0, len(paths))
	for _, p := range paths {
		f, err := Load(p)
		if err != nil {
			return nil, err
		}
		out = append(out, f)
	}
	return out, nil
}

// Load reads one archive.
func Load(path string) (Fixture, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return Fixture{}, err
	}
	f := Fixture{Path: path, Rule: filepath.Base(filepath.Dir(path)), archive: txtar.Parse(data)}
	f.Kind, _, _ = strings.Cut(filepath.Base(path), "-")
	f.Kind = strings.TrimSuffix(f.Kind, ".txtar")
	directives := parseDirectives(string(f.archive.Comment))
	for _, file := range f.archive.Files {
		if err := f.add(file, directives); err != nil {
			return Fixture{}, fmt.Errorf("%s: %s: %w", path, file.Name, err)
		}
	}
	if err := f.declare(directives); err != nil {
		return Fixture{}, fmt.Errorf("%s: %w", path, err)
	}
	return f, nil
}

func (f *Fixture) add(file txtar.File, directives []directive) error {
	switch file.Name {
	case "want.txt":
		f.Want = string(file.Data)
		return nil
	case "case.json":
		configs := f.Case.Configs
		f.Case.Configs = nil
		if err := json.Unmarshal(file.Data, &f.Case); err != nil {
			return err
		}
		f.Case.Configs = append(configs, f.Case.Configs...)
		return nil
	}
	if strings.HasSuffix(file.Name, ".log") {
		return f.addLog(file)
	}
	o := clientconf.Options{}
	for _, d := range directives {
		if d.key == "client" {
			name, version, _ := strings.Cut(d.value, "@")
			o.Family, o.Version = inspect.Family(name), version
		}
	}
	configs, err := clientconf.Read(file.Name, file.Data, o)
	if err != nil {
		return err
	}
	f.Case.Configs = append(f.Case.Configs, configs...)
	f.Args = append(f.Args, "-f", file.Name)
	return nil
}

// addLog reads a log, as --log does.
func (f *Fixture) addLog(file txtar.File) error {
	_, err := clientlog.Read(bytes.NewReader(file.Data), file.Name, clientlog.Options{}, clientlog.Handler{
		Event:  func(e inspect.LogEvent) error { f.Case.LogEvents = append(f.Case.LogEvents, e); return nil },
		Config: func(c inspect.ClientConfig) error { f.Case.Configs = append(f.Case.Configs, c); return nil },
	})
	f.Args = append(f.Args, "--log", file.Name)
	return err
}

type directive struct{ key, value string }

func parseDirectives(comment string) []directive {
	var out []directive
	for _, line := range strings.Split(comment, "\n") {
		key, value, ok := strings.Cut(line, ": ")
		switch key {
		case "client", "set", "batch-time", "record-time", "back-off", "gc-pause", "blank":
			if ok {
				out = append(out, directive{key, strings.TrimSpace(value)})
			}
		}
	}
	return out
}

func (f *Fixture) declare(directives []directive) error {
	for _, d := range directives {
		switch d.key {
		case "set":
			key, value, _ := strings.Cut(d.value, "=")
			for i := range f.Case.Configs {
				clientconf.Override(&f.Case.Configs[i], key, value)
			}
		case "batch-time", "record-time", "back-off", "gc-pause":
			span, err := time.ParseDuration(d.value)
			if err != nil {
				return err
			}
			switch d.key {
			case "batch-time":
				f.Case.Declared.BatchTime = inspect.Ms(span)
			case "record-time":
				f.Case.Declared.RecordTime = inspect.Ms(span)
			case "back-off":
				f.Case.Declared.BackOff = inspect.Ms(span)
			default:
				f.Case.Declared.GCPause = inspect.Ms(span)
			}
		case "blank":
			Erase(&f.Case, inspect.Fact(d.value))
			continue
		}
		f.Args = append(f.Args, "--"+d.key, d.value)
	}
	return nil
}

// Rewrite stores want as the new expectation.
func (f *Fixture) Rewrite(want string) error {
	for i := range f.archive.Files {
		if f.archive.Files[i].Name == "want.txt" {
			f.archive.Files[i].Data = []byte(want)
			return os.WriteFile(f.Path, txtar.Format(f.archive), 0o644)
		}
	}
	f.archive.Files = append(f.archive.Files, txtar.File{Name: "want.txt", Data: []byte(want)})
	return os.WriteFile(f.Path, txtar.Format(f.archive), 0o644)
}

// Command is the command line that comes to the same as the fixture.
func (f *Fixture) Command() string {
	words := []string{"kgdiag", "advise"}
	for _, g := range f.Case.Groups {
		words = append(words, g.ID)
	}
	return strings.Join(append(words, f.Args...), " ")
}
