package main

import "github.com/spf13/cobra"

func docsCommand(a *app) *cobra.Command {
	return &cobra.Command{Use: "docs [TOPIC]", Short: "Print a short document", RunE: func(cmd *cobra.Command, args []string) error { return nil }}
}
