package main

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// manCommand writes the manual, for `make install` and for packages.
func manCommand() *cobra.Command {
	return &cobra.Command{
		Use:    "man DIR",
		Short:  "Write the man pages into a folder",
		Hidden: true,
		Args:   one("DIR"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := os.MkdirAll(args[0], 0o755); err != nil {
				return fail(exitFailed, "choose another folder", "write the man pages: %w", err)
			}
			sayPaths(cmd.Root())
			if err := writeMan(cmd.Root(), args[0], manDate()); err != nil {
				return fail(exitFailed, "choose another folder", "write the man pages: %w", err)
			}
			return nil
		},
	}
}

// manDate is that of the sources where a build says it, so that the same sources
// give the same pages.
func manDate() time.Time {
	if seconds, err := strconv.ParseInt(os.Getenv("SOURCE_DATE_EPOCH"), 10, 64); err == nil {
		return time.Unix(seconds, 0).UTC()
	}
	return time.Now().UTC()
}

// writeMan writes a page for a command, and one for each that help shows below it.
func writeMan(cmd *cobra.Command, dir string, date time.Time) error {
	path := filepath.Join(dir, pageOf(cmd)+".1")
	if err := os.WriteFile(path, []byte(manPage(cmd, date)), 0o644); err != nil {
		return err
	}
	for _, sub := range cmd.Commands() {
		if sub.IsAvailableCommand() {
			if err := writeMan(sub, dir, date); err != nil {
				return err
			}
		}
	}
	return nil
}

// pageOf is the name of a command's page.
func pageOf(cmd *cobra.Command) string { return strings.ReplaceAll(cmd.CommandPath(), " ", "-") }

// manPage has the text of --help, for man(1).
func manPage(cmd *cobra.Command, date time.Time) string {
	var b strings.Builder
	fmt.Fprintf(&b, ".TH %q 1 %q hookd hookd\n.nh\n.ad l\n", strings.ToUpper(pageOf(cmd)), date.Format("January 2006"))
	fmt.Fprintf(&b, ".SH NAME\n%s \\- %s\n", roff(pageOf(cmd)), roff(cmd.Short))
	fmt.Fprintf(&b, ".SH SYNOPSIS\n.B %s\n", roff(cmd.UseLine()))
	b.WriteString(".SH DESCRIPTION\n")
	manText(&b, cmp.Or(cmd.Long, cmd.Short+"."))
	manFlags(&b, "OPTIONS", cmd.NonInheritedFlags())
	manFlags(&b, "OPTIONS OF EVERY COMMAND", cmd.InheritedFlags())
	if cmd.Example != "" {
		b.WriteString(".SH EXAMPLES\n.nf\n")
		for line := range strings.SplitSeq(cmd.Example, "\n") {
			b.WriteString(roff(line) + "\n")
		}
		b.WriteString(".fi\n")
	}
	manSeeAlso(&b, cmd)
	return b.String()
}

// manText writes paragraphs. Lines that begin with a blank stay as they are.
func manText(b *strings.Builder, text string) {
	asIs := false
	for line := range strings.SplitSeq(text, "\n") {
		switch indented := strings.HasPrefix(line, " "); {
		case line == "" && !asIs:
			b.WriteString(".PP\n")
			continue
		case indented && !asIs:
			b.WriteString(".nf\n")
			asIs = true
		case !indented && asIs:
			b.WriteString(".fi\n")
			if asIs = false; line == "" {
				b.WriteString(".PP\n")
				continue
			}
		}
		b.WriteString(roff(line) + "\n")
	}
	if asIs {
		b.WriteString(".fi\n")
	}
}

func manFlags(b *strings.Builder, title string, flags *pflag.FlagSet) {
	if !flags.HasAvailableFlags() {
		return
	}
	b.WriteString(".SH " + title + "\n")
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Hidden || f.Name == "help" {
			return
		}
		name := "--" + f.Name
		if f.Shorthand != "" {
			name = "-" + f.Shorthand + ", " + name
		}
		value, usage := pflag.UnquoteUsage(f)
		if value != "" {
			name += " " + value
		}
		fmt.Fprintf(b, ".TP\n.B %s\n%s\n", roff(name), roff(usage))
	})
}

func manSeeAlso(b *strings.Builder, cmd *cobra.Command) {
	var pages []string
	if cmd.HasParent() {
		pages = append(pages, pageOf(cmd.Parent()))
	}
	for _, sub := range cmd.Commands() {
		if sub.IsAvailableCommand() {
			pages = append(pages, pageOf(sub))
		}
	}
	if len(pages) == 0 {
		return
	}
	b.WriteString(".SH SEE ALSO\n")
	for i, page := range pages {
		end := ","
		if i == len(pages)-1 {
			end = ""
		}
		fmt.Fprintf(b, ".BR %s (1)%s\n", roff(page), end)
	}
}

// roff writes text so that none of its characters is markup.
func roff(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`, "`", `\(ga`, "'", `\(aq`, "^", `\(ha`, "~", `\(ti`).Replace(text)
	if strings.HasPrefix(text, ".") {
		text = `\&` + text
	}
	return text
}
