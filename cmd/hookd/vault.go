package main

import (
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/hookd/hookd/client"
	"github.com/hookd/hookd/wire"
)

func vaultCommand(a *app) *cobra.Command {
	var call, restore string
	add := &cobra.Command{
		Use: "add FILE", Short: "Put a dump into the vault for a call that destroys more than files",
		Long: `add copies FILE into the vault for a call, with the command that brings it back. A hook
does so before a call that drops a database or deletes a volume: it makes a dump first.
'hookd undo CALL' shows the dump and the command; a person types it. CALL is the id of the
call as its agent has it, tool_use_id in the hook's payload, or the id of the event.`,
		Example: `hookd vault add "$T" --call "$ID" --restore 'psql shop < {}'`,
		Args:    one("FILE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			path, err := filepath.Abs(args[0])
			if err != nil {
				return fail(exitFailed, "name a path that begins with /", "find %s: %w", args[0], err)
			}
			ask := wire.DumpRequest{Path: path, Restore: restore}
			dump, err := client.AddDump(cmd.Context(), a.dial(cmd), call, ask)
			if err != nil {
				return err
			}
			return a.print(dump, func(p *printer) { p.linef("kept: %s, %s", dump.Name, sizeText(dump.Size)) })
		},
	}
	add.Flags().StringVar(&call, "call", "", "the call: its id at its agent, or the id of its event")
	add.Flags().StringVar(&restore, "restore", "", "the command that brings it back; {} stands for the kept file")
	_ = add.MarkFlagRequired("call")
	group := family("vault", "What hooks keep for `hookd undo`",
		"vault is for hooks: it keeps what hookd itself cannot keep.")
	group.AddCommand(add)
	return group
}
