package main

import (
	"embed"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// topics are short documents for an agent to read.
//
//go:embed topics/*.md
var topics embed.FS

func docsCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "docs [TOPIC]",
		Short: "Print a short document, for an agent to read",
		Long: `docs prints one of ten short documents. Each says in some lines how one thing is done, and
names no command that makes a guard weaker. Without TOPIC it lists them.`,
		Example:           "  hookd docs\n  hookd docs denied",
		Args:              atMostOne,
		ValidArgsFunction: words(topicNames()...),
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return a.print(map[string][]string{"topics": topicNames()}, func(p *printer) { printTopics(p) })
			}
			text, err := topics.ReadFile("topics/" + args[0] + ".md")
			if err != nil {
				return fail(exitUsage, meant(args[0], topicNames())+"see `hookd docs`", "there is no topic %q", args[0])
			}
			return a.print(map[string]string{"topic": args[0], "text": string(text)}, func(p *printer) {
				p.line(strings.TrimSpace(string(text)))
			})
		},
	}
}

// topicNames are the topics in the order of the alphabet.
func topicNames() (names []string) {
	entries, _ := topics.ReadDir("topics") // of a folder that is compiled in
	for _, e := range entries {
		names = append(names, strings.TrimSuffix(e.Name(), ".md"))
	}
	slices.Sort(names)
	return names
}

// printTopics lists the topics with their titles.
func printTopics(p *printer) {
	for _, name := range topicNames() {
		text, _ := topics.ReadFile("topics/" + name + ".md") // topicNames has read the folder
		title, _, _ := strings.Cut(string(text), "\n")
		p.line(p.fit(fmt.Sprintf("%-10s %s", name, strings.TrimPrefix(title, "# "))))
	}
}
