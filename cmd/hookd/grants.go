package main

import (
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hookd/hookd/client"
)

func grantsCommand(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "grants",
		Short: "List the answers that are remembered, and end them",
		Long: `grants lists the answers to asks that hookd remembers: each answers the same question
of the same hook, while that hook does not change. ` + "`hookd grants revoke GRANT`" + ` ends one.`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx, cancel := a.answer(cmd)
			defer cancel()
			list, err := a.dial(cmd).Grants(ctx)
			if err != nil {
				return err
			}
			list = upTo(list, a.limit)
			return a.print(map[string][]client.Grant{"grants": list}, func(p *printer) { printGrants(p, list) })
		},
	}
	cmd.AddCommand(revokeCommand(a))
	return withLimit(a, cmd)
}

func revokeCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "revoke GRANT",
		Short: "End a grant: its hook asks again, also after a restart",
		Args:  one("GRANT"),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx, cancel := a.answer(cmd)
			defer cancel()
			g, err := a.dial(cmd).RevokeGrant(ctx, args[0])
			if err != nil {
				return err
			}
			return a.print(g, func(p *printer) { p.linef("revoked: hook %s asks again about %s", g.Hook, covered(g)) })
		},
		ValidArgsFunction: func(cmd *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
			ctx, cancel := completing(cmd)
			defer cancel()
			list, _ := a.dial(cmd).Grants(ctx)
			var ids []string
			for _, g := range list {
				if g.Void == "" {
					ids = append(ids, proposal(g.ID, g.Hook+" "+covered(g)))
				}
			}
			return ids, cobra.ShellCompDirectiveNoFileComp
		},
	}
}

// covered names the calls that a grant covers: its glob, else the one call; and first the ways out of boxes
// that it opens.
func covered(g client.Grant) string {
	words := about(g.Tool, g.Subject)
	if g.Like != "" {
		words = "like " + g.Like
	}
	if len(g.Opens) > 0 {
		words = "boxes may reach " + strings.Join(g.Opens, ", ") + "; " + words
	}
	return words
}

// grantWords tells in words the effect of a grant.
func grantWords(g client.Grant) string {
	words := string(g.Answer) + " " + covered(g)
	if g.Cwd != "" {
		words += " in " + g.Cwd
	}
	switch g.Scope {
	case "session":
		return words + ", for this session"
	case "always":
		return words + ", until it is revoked"
	}
	return words + ", for " + g.Scope
}

func printGrants(p *printer, list []client.Grant) {
	if len(list) == 0 {
		p.line("no answer is remembered; `hookd ask allow ASK --for session` makes a grant")
		return
	}
	ids := make([]string, len(list))
	for i, g := range list {
		ids[i] = g.ID
	}
	id := p.ids(ids)
	var rows [][]cell
	for _, g := range list {
		ends := cell{"revoked only", plain}
		switch {
		case g.Void != "":
			ends = cell{"void: " + g.Void, yellow}
		case g.Scope == "session":
			ends = text("with its session")
		case !g.Until.IsZero():
			ends = text(clockTime(g.Until))
		}
		rows = append(rows, []cell{text(id(g.ID)), outcome(g.Answer), text(g.Hook), text(covered(g)), ends,
			text(g.Cwd), text(g.From.User), text(strconv.Itoa(g.Uses))})
	}
	p.table([]column{{title: "GRANT"}, {title: "ANSWER"}, hookColumn("HOOK"), textColumn("COVERS"), nameColumn("ENDS"),
		{title: "CWD", yield: 3, end: true}, asideColumn("BY"), {title: "USES"}}, rows)
}
