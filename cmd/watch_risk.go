package cmd

import (
	"context"
	"fmt"
	"os/exec"
	"strconv"
	"sync"
	"time"

	"github.com/kgdiag/kgdiag/inspect/watch"
)

// onRiskLimit is how long a command of --on-risk may run.
const onRiskLimit = time.Minute

// riskRunner runs the command of --on-risk, one run a member at risk, beside the watch.
type riskRunner struct {
	a       *app
	command string
	wg      sync.WaitGroup
	mu      sync.Mutex // stderr
}

// run starts the command for an event. It learns of the member through variables,
// never through the command line, so that no id is taken for shell text.
func (r *riskRunner) run(ctx context.Context, e *watch.Event) {
	if r.command == "" || e.Type != watch.MemberAtRisk {
		return
	}
	env := []string{"KGDIAG_GROUP=" + e.Group, "KGDIAG_MEMBER=" + e.Member, "KGDIAG_EVENT=" + e.ID,
		"KGDIAG_OUT_AT=" + e.OutAt.UTC().Format(time.RFC3339Nano)}
	if e.Silent != nil {
		env = append(env, "KGDIAG_SILENT_MS="+strconv.FormatInt(e.Silent.Duration().Milliseconds(), 10))
	}
	if e.Limit != nil {
		env = append(env, "KGDIAG_LIMIT_MS="+strconv.FormatInt(e.Limit.Duration().Milliseconds(), 10))
	}
	if e.Who != nil {
		env = append(env, "KGDIAG_CLIENT_ID="+e.Who.ClientID, "KGDIAG_MEMBER_ID="+e.Who.MemberID, "KGDIAG_HOST="+e.Who.Host)
	}
	r.wg.Go(func() {
		ctx, cancel := context.WithTimeout(ctx, onRiskLimit)
		defer cancel()
		c := exec.CommandContext(ctx, "sh", "-c", r.command)
		c.Env = append(c.Environ(), env...)
		c.WaitDelay = time.Second
		out, err := c.CombinedOutput()
		r.mu.Lock()
		defer r.mu.Unlock()
		if len(out) > 0 {
			fmt.Fprintf(r.a.streams.Err, "%s", out)
		}
		if err != nil {
			r.a.warn("--on-risk: %v", err)
		}
	})
}

// wait waits for the commands under way.
func (r *riskRunner) wait() { r.wg.Wait() }
