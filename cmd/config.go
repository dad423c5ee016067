package cmd

import (
	"context"
	"errors"
	"fmt"
	"sort"
	"strings"

	"github.com/spf13/pflag"

	"github.com/kgdiag/kgdiag/advise"
	"github.com/kgdiag/kgdiag/inspect"
	"github.com/kgdiag/kgdiag/inspect/clientconf"
	"github.com/kgdiag/kgdiag/inspect/clientconf/properties"
	"github.com/kgdiag/kgdiag/internal/input"
)

// configFlags name the configurations of consumers.
type configFlags struct {
	files   []string
	dialect string
	client  string
	sets    []string

	// What --client means.
	family  inspect.Family
	version string

	// What readConfigs found besides the configurations.
	texts   map[string][]byte           // the -f files as they were read
	foreign []*clientconf.NotRecognised // files in which no consumer and no broker was found
	brokers []inspect.Broker            // of files
}

// add adds the flags.
func (o *configFlags) add(f *pflag.FlagSet) {
	f.StringArrayVarP(&o.files, "config", "f", nil, "configuration `FILE` of a consumer (repeatable)")
	f.StringVar(&o.dialect, "dialect", "", "read the files as this `DIALECT`: "+strings.Join(clientconf.Dialects(), "|"))
	f.StringVar(&o.client, "client", "", "the client library of the files, `NAME@VERSION`: "+strings.Join(clientNames(), "|"))
	f.StringArrayVar(&o.sets, "set", nil, "setting `key=value` that outranks the files (repeatable)")
}

// addTimeouts adds those of a command that judges the past by them.
func (o *configFlags) addTimeouts(f *pflag.FlagSet) {
	f.StringArrayVarP(&o.files, "config", "f", nil, "configuration `FILE` of a consumer: checked as advise does, and gives timeouts that cannot be read (repeatable)")
	f.StringArrayVar(&o.sets, "set", nil, "setting `key=value`, as in a file of -f, which it outranks (repeatable)")
}

func clientNames() []string {
	var names []string
	for f := range advise.Clients() {
		names = append(names, string(f))
	}
	sort.Strings(names)
	return names
}

func (o *configFlags) completeClient() error {
	if o.client == "" {
		return nil
	}
	name, version, _ := strings.Cut(o.client, "@")
	o.family, o.version = inspect.Family(strings.ToLower(name)), version
	newest, ok := advise.Clients()[o.family]
	if !ok {
		return usage(fmt.Sprintf("--client %s: no such client library", o.client), "known are "+strings.Join(clientNames(), ", "))
	}
	if version != "" && !plausibleVersion(version) {
		return usage(fmt.Sprintf("--client %s: %q is no version", o.client, version), fmt.Sprintf("such as %s@%s", o.family, newest))
	}
	return nil
}

func plausibleVersion(v string) bool {
	v = strings.TrimPrefix(v, "v")
	return v != "" && v[0] >= '0' && v[0] <= '9' && len(v) < 40
}

// readConfigs reads the -f files, or makes a configuration out of --set or --client alone,
// or out of nothing where that is wanted.
func (o *configFlags) readConfigs(ctx context.Context, a *app, alone bool) ([]inspect.ClientConfig, error) {
	var out []inspect.ClientConfig
	o.texts = map[string][]byte{}
	for _, name := range o.files {
		data, err := a.readInput(ctx, name)
		if err != nil {
			return nil, err
		}
		o.texts[name] = data // a pipe gives it once
		configs, err := clientconf.Read(name, data, clientconf.Options{Dialect: o.dialect, Family: o.family, Version: o.version})
		var foreign *clientconf.NotRecognised
		brokers := clientconf.Brokers(name, data)
		o.brokers = append(o.brokers, brokers...)
		if errors.As(err, &foreign) {
			if len(brokers) == 0 {
				o.foreign = append(o.foreign, foreign)
			}
			continue
		}
		if err != nil {
			return nil, &problem{code: exitUsage, err: err}
		}
		out = append(out, configs...)
	}
	if len(o.files) == 0 && (len(o.sets) > 0 || o.client != "" || alone) {
		out = append(out, inspect.ClientConfig{Where: inspect.Position{File: clientconf.FromFlags}, Dialect: "java", Family: o.familyOrJava(),
			Version: o.version, Assumed: o.version == "", Settings: []inspect.Setting{}})
	}
	for _, kv := range o.sets {
		key, value, ok := strings.Cut(kv, "=")
		if !ok || key == "" {
			return nil, usagef("--set %q: want key=value", kv)
		}
		for i := range out {
			clientconf.Override(&out[i], key, value)
		}
	}
	return out, nil
}

func (o *configFlags) familyOrJava() inspect.Family {
	if o.family == "" {
		return inspect.Java
	}
	return o.family
}

// readInput reads a file that the user named, "-" for standard input, with the
// limits of a configuration.
func (a *app) readInput(ctx context.Context, name string) ([]byte, error) {
	data, err := []byte(nil), error(nil)
	if name == "-" {
		data, err = input.All(a.streams.In, properties.MaxSize)
	} else {
		data, err = input.Read(ctx, name, properties.MaxSize)
	}
	if err != nil {
		return nil, inspect.NewFileError(name, err)
	}
	return data, nil
}

// timeouts reads the configurations of a command to which they tell timeouts.
func (o *configFlags) timeouts(ctx context.Context, a *app) ([]inspect.ClientConfig, error) {
	configs, err := o.readConfigs(ctx, a, false)
	for _, f := range o.foreign {
		a.warn("%v; nothing is said of it", f)
	}
	return configs, err
}

// words are the flags of these, for commands to copy.
func (o *configFlags) words() string {
	return flagWords("-f", o.files...) + flagWords("--set", o.sets...)
}
