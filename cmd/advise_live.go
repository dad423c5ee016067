package cmd

import (
	"context"

	"github.com/kgdiag/kgdiag/inspect"
)

// live reads the groups from the cluster, if one is to be asked; a nil case without
// an error says that none is.
func (o *adviseOptions) live(_ context.Context, groups []string, _ []inspect.ClientConfig) (*inspect.Case, error) {
	if len(groups) > 0 || o.any() {
		return nil, usage("advise on live groups needs a connection", "")
	}
	return nil, nil
}
