package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// manCommand writes the man pages: one for each command that help shows. `make man` and packaging/package.sh call it.
func manCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "man FOLDER",
		Short: "Write the man pages into a folder",
		Long:  `man writes a page for each command. SOURCE_DATE_EPOCH is their date; without it they have today's.`,
		Args:  one("folder"),
		RunE: func(cmd *cobra.Command, args []string) error {
			date := time.Now()
			if epoch, err := strconv.ParseInt(os.Getenv("SOURCE_DATE_EPOCH"), 10, 64); err == nil {
				date = time.Unix(epoch, 0)
			}
			root := newRoot(a)
			sayPaths(root)
			if err := os.MkdirAll(args[0], 0o755); err != nil {
				return err
			}
			return writePages(root, args[0], date.UTC().Format("Jan 2006"))
		},
	}
}

// writePages writes the page of a command, and the pages of those below it.
func writePages(cmd *cobra.Command, folder, date string) error {
	if err := os.WriteFile(filepath.Join(folder, pageName(cmd)+".1"), manPage(cmd, date), 0o644); err != nil {
		return err
	}
	for _, sub := range cmd.Commands() {
		if sub.IsAvailableCommand() {
			if err := writePages(sub, folder, date); err != nil {
				return err
			}
		}
	}
	return nil
}

func pageName(cmd *cobra.Command) string { return strings.ReplaceAll(cmd.CommandPath(), " ", "-") }

// manPage returns the page of a command, for the man macros of roff.
func manPage(cmd *cobra.Command, date string) []byte {
	cmd.InitDefaultHelpFlag()
	var b bytes.Buffer
	title := roff(strings.ToUpper(pageName(cmd)))
	fmt.Fprintf(&b, ".nh\n.TH \"%s\" \"1\" \"%s\" \"hookd\" \"hookd\"\n", title, date)
	fmt.Fprintf(&b, ".SH NAME\n%s \\- %s\n", roff(pageName(cmd)), roff(cmd.Short))
	fmt.Fprintf(&b, ".SH SYNOPSIS\n\\fB%s\\fP\n", roff(cmd.UseLine()))
	b.WriteString(".SH DESCRIPTION\n")
	description := cmd.Long
	if description == "" {
		description = cmd.Short
	}
	for line := range strings.Lines(description) {
		switch {
		case strings.TrimSpace(line) == "":
			b.WriteString(".PP\n")
		case strings.HasPrefix(line, " "), strings.HasPrefix(line, "\t"): // as it is
			fmt.Fprintf(&b, ".nf\n%s\n.fi\n", roff(strings.TrimRight(line, "\n")))
		default:
			b.WriteString(roff(strings.TrimRight(line, "\n")) + "\n")
		}
	}
	options(&b, "OPTIONS", cmd.NonInheritedFlags())
	options(&b, "OPTIONS INHERITED FROM PARENT COMMANDS", cmd.InheritedFlags())
	if cmd.Example != "" {
		b.WriteString(".SH EXAMPLE\n.nf\n")
		for line := range strings.Lines(strings.TrimRight(cmd.Example, "\n")) {
			b.WriteString(roff(strings.TrimRight(line, "\n")) + "\n")
		}
		b.WriteString(".fi\n")
	}
	var others []string
	if cmd.HasParent() {
		others = append(others, "\\fB"+roff(pageName(cmd.Parent()))+"(1)\\fP")
	}
	for _, sub := range cmd.Commands() {
		if sub.IsAvailableCommand() {
			others = append(others, "\\fB"+roff(pageName(sub))+"(1)\\fP")
		}
	}
	if len(others) > 0 {
		b.WriteString(".SH SEE ALSO\n" + strings.Join(others, ",\n") + "\n")
	}
	return b.Bytes()
}

// options writes a section with flags, where there are any.
func options(b *bytes.Buffer, title string, flags *pflag.FlagSet) {
	if !flags.HasAvailableFlags() {
		return
	}
	b.WriteString(".SH " + title + "\n")
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Hidden || f.Deprecated != "" {
			return
		}
		name := "\\fB" + roff("--"+f.Name) + "\\fP"
		if f.Shorthand != "" {
			name = "\\fB" + roff("-"+f.Shorthand) + "\\fP, " + name
		}
		value := f.DefValue
		if f.Value.Type() == "string" {
			value = strconv.Quote(value)
		}
		if value = "=" + value; f.NoOptDefVal != "" {
			value = "[" + value + "]"
		}
		fmt.Fprintf(b, ".TP\n%s%s\n", name, roff(value))
		for line := range strings.Lines(f.Usage) {
			b.WriteString(roff(strings.TrimRight(line, "\n")) + "\n")
		}
	})
}

// roff writes a line so that nothing in it is a request or an escape.
func roff(line string) string {
	line = strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(line)
	if strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'") {
		line = `\&` + line
	}
	return line
}
