package cmd

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/kgdiag/kgdiag/advise/explain"
	"github.com/kgdiag/kgdiag/internal/render"
)

var _ = command(90, newExplainCmd)

// explainCmd is kgdiag explain.
type explainCmd struct{ *app }

func newExplainCmd(a *app) *cobra.Command {
	e := &explainCmd{a}
	return &cobra.Command{
		Use:     "explain [ID|CAUSE|WORD…]",
		Aliases: []string{"rules"},
		Short:   "explain rules, causes and Kafka's words, offline",
		Long:    "Rules, causes and Kafka's words, without a cluster. Without an argument: the list of all.",
		Example: "  kgdiag explain KGD105\n  kgdiag explain poll_interval_exceeded\n  kgdiag explain generation",
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return explain.Words(), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: e.run,
	}
}

func (e *explainCmd) run(_ *cobra.Command, args []string) error {
	env := e.envelopeOf("kgdiag.explain/v1", nil)
	if len(args) == 0 {
		return e.show(explainListView(env))
	}
	if whole := strings.Join(args, " "); len(args) > 1 {
		if _, err := explain.All(whole); err == nil {
			args = []string{whole} // explain clean close
		}
	}
	v := render.View{}
	var topics []explain.Topic
	for _, word := range args {
		found, err := explain.All(word)
		if err != nil {
			return err
		}
		topics = append(topics, found...)
		for _, t := range found {
			v.Blocks = append(v.Blocks, topicBlock(t))
		}
	}
	v.Data = struct {
		envelope
		Topics []explain.Topic `json:"topics"`
	}{env, topics}
	return e.show(v)
}
