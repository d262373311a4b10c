package main

import (
	"context"
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
			return showList(a, cmd, "grants", func(ctx context.Context, c *client.Client) ([]client.Grant, error) {
				return c.Grants(ctx)
			}, printGrants)
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
			return show(a, cmd, func(ctx context.Context, c *client.Client) (client.Grant, error) {
				return c.RevokeGrant(ctx, args[0])
			}, func(p *printer, g client.Grant) {
				p.linef("revoked: hook %s asks again about %s", g.Hook, covered(g))
			})
		},
		ValidArgsFunction: asked(a, func(ctx context.Context, c *client.Client) (ids []string) {
			list, _ := c.Grants(ctx)
			for _, g := range list {
				if g.Void == "" {
					ids = append(ids, proposal(g.ID, g.Hook+" "+covered(g)))
				}
			}
			return ids
		}),
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
	id := idsOf(p, list, func(g client.Grant) string { return g.ID })
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
