package kconn

import (
	"strings"

	"github.com/kgdiag/kgdiag/internal/kconn/settings"
)

// ContextInfo is one named cluster, without its secrets.
type ContextInfo struct {
	Name      string `json:"name"` // for --context
	Default   bool   `json:"default"`
	From      string `json:"from"` // the file
	Bootstrap string `json:"bootstrap"`
	Protocol  string `json:"protocol"`
	Mechanism string `json:"mechanism"` // "" without SASL
	Problem   string `json:"problem"`   // why it cannot be used; "" where nothing is known against it
}

// Contexts lists the named clusters. path is where they belong. Each is resolved,
// without dialling, so that Problem is what --context would say.
func Contexts(opt Options) (list []ContextInfo, path string, err error) {
	all, current, path, err := settings.Contexts(opt.input())
	if err != nil {
		return nil, path, err
	}
	for _, n := range all {
		info := ContextInfo{Name: n.Name, Default: n.Name == current, From: n.Origin, Bootstrap: n.Servers()}
		o := opt
		o.Context, o.Bootstrap, o.CommandConfig, o.X, o.BrokerMap = n.Name, "", "", nil, ""
		o.Prompt = func(string) (string, error) { return "?", nil } // it is asked for when it is needed
		o.Getenv = func(name string) string {
			if opt.Getenv == nil || strings.HasPrefix(name, "KGDIAG_") && name != "KGDIAG_CONFIG" || name == "KAFKA_BOOTSTRAP_SERVERS" {
				return ""
			}
			return opt.Getenv(name)
		}
		if c, _, err := Resolve(o); err == nil {
			info.Bootstrap, info.Protocol, info.Mechanism = c.Bootstrap, c.Protocol, c.Mechanism
		} else {
			info.Problem = err.Error()
		}
		list = append(list, info)
	}
	return list, path, nil
}
