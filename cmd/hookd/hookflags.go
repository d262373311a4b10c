package main

import (
	"os"

	"github.com/spf13/cobra"

	"github.com/hookd/hookd/internal/discovery/catalog"
)

// hookFlags adds docker-agent's flags that append hooks: --hook-stop CMD and
// its like, each as often as one wants.
func hookFlags(cmd *cobra.Command) {
	for _, f := range catalog.HookFlags() {
		cmd.Flags().StringArray(f.Name, nil, "run this command with $SHELL -c on "+f.Event+"; repeatable")
	}
}

// hooksGiven returns the commands of the hook flags by event, and the directory
// that they run in when the event has none.
func hooksGiven(cmd *cobra.Command) (commands map[string][]string, dir string, err error) {
	commands = map[string][]string{}
	for _, f := range catalog.HookFlags() {
		list, err := cmd.Flags().GetStringArray(f.Name)
		if err != nil {
			return nil, "", err
		}
		commands[f.Event] = list
	}
	dir, err = os.Getwd()
	return commands, dir, err
}
