package main

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/hookd/hookd/internal/hooks/schema"
)

func schemaCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "schema hook|settings|event",
		Short: "Print a JSON Schema, for editors and generators",
		Long: `schema prints the JSON Schema (draft 2020-12) of HOOK.yaml, of hookd.yaml, or of an
event on the socket. Editors with a YAML language server complete and check a file
whose first line names one; ` + "`hookd new`" + ` writes that line.`,
		Example: `  hookd schema hook > hook.json
  hookd schema settings`,
		Args:      one("of " + strings.Join(schema.Names, ", ")),
		ValidArgs: schema.Names,
		RunE: func(_ *cobra.Command, args []string) error {
			text, ok := schema.Of(args[0])
			if !ok {
				return fail(exitUsage, "type `hookd schema hook`", "there is no schema %q; there are %s", args[0],
					strings.Join(schema.Names, ", "))
			}
			_, err := a.out.Write(text)
			return err
		},
	}
}
