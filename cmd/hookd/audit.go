package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/hookd/hookd/client"
	"github.com/hookd/hookd/internal/base/duration"
	"github.com/hookd/hookd/internal/people/card"
	"github.com/hookd/hookd/internal/record/audit"
	"github.com/hookd/hookd/internal/record/store"
)

func auditCommand(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "audit",
		Short: "Check and export the record that cannot be changed unnoticed",
		Long: `audit has the chain of what must not be changed afterwards: changes of hooks and
settings, denials, answers to asks, and guards that are gone. Each record is
bound to all before it by its hash. It reads the database itself: no daemon is
asked, and one may run.`,
		Example: `  hookd audit verify
  hookd audit export --since 7d`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(auditVerifyCommand(a), auditExportCommand(a))
	return cmd
}

func auditVerifyCommand(a *app) *cobra.Command {
	var noted string
	cmd := &cobra.Command{
		Use:   "verify [FILE]",
		Short: "Look for records that were changed, removed, reordered or inserted",
		Long: `verify reads the whole chain, or an export, and names each record that is not
as it was written. The exit code is 1 when there is one.

It prints the head of the chain. Note that elsewhere, and give it with --head
later: so a chain is found out that was made again as a whole.`,
		Example: `  hookd audit verify
  hookd audit verify --head \
    1204:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08
  hookd audit verify export.ndjson`,
		Args: atMostOne,
		RunE: func(cmd *cobra.Command, args []string) error {
			var head audit.Head
			if noted != "" {
				var err error
				if head, err = audit.ParseHead(noted); err != nil {
					return fail(exitUsage, "see `hookd audit verify --help`", "%w", err)
				}
			}
			report, err := verifyAudit(a, cmd, audit.NewChecker(head), args)
			if err != nil {
				return err
			}
			if err := a.print(report, func(p *printer) { printAuditReport(p, report) }); err != nil {
				return err
			}
			if len(report.Findings) > 0 {
				return said(exitFailed)
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&noted, "head", "", "head that was noted before, N:HASH: the chain must have it")
	return cmd
}

// verifyAudit checks an export, else the database.
func verifyAudit(a *app, cmd *cobra.Command, c *audit.Checker, args []string) (audit.Report, error) {
	if len(args) == 1 {
		if err := eachExported(args[0], func(r audit.Link, prev audit.Hash) { c.Add(r, &prev) }); err != nil {
			return audit.Report{}, fail(exitFailed, "name a file that `hookd audit export` wrote", "%s: %w", args[0], err)
		}
		return c.End(false, nil), nil
	}
	head, err := readAudit(a, cmd, time.Time{}, func(r audit.Link, prev audit.Hash) error {
		c.AddNext(r, prev)
		return nil
	})
	if err == nil && head.N == 0 {
		err = checkEmptyAudit(cmd, c)
	}
	return c.End(true, &head), err
}

// checkEmptyAudit compares a chain without records with the denials on record.
func checkEmptyAudit(cmd *cobra.Command, c *audit.Checker) error {
	cfg, err := loadConfig(cmd)
	if err != nil {
		return err
	}
	n, err := store.Unchained(cmd.Context(), cfg.StorePath)
	if err != nil {
		return fail(exitFailed, "see what is in its way with `hookd doctor`", "read %s: %w", cfg.StorePath, err)
	}
	c.Empty(n)
	return nil
}

func eachExported(file string, each func(audit.Link, audit.Hash)) error {
	f, err := os.OpenFile(file, os.O_RDONLY, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 16<<20)
	for n := 1; lines.Scan(); n++ {
		r, prev, err := audit.ReadLine(lines.Bytes())
		if err != nil {
			return fmt.Errorf("line %d: %w", n, err)
		}
		each(r, prev)
	}
	return lines.Err()
}

// readAudit reads the chain in the database of the settings. A daemon that runs puts each record so far on
// disk first, as it does before it answers a query.
func readAudit(
	a *app, cmd *cobra.Command, since time.Time, each func(audit.Link, audit.Hash) error,
) (head audit.Head, err error) {
	cfg, err := loadConfig(cmd)
	if err != nil {
		return head, err
	}
	ctx, cancel := context.WithTimeout(cmd.Context(), aliveTime)
	_, _ = a.dial(cmd).Decisions(ctx, client.DecisionQuery{Limit: 1})
	cancel()
	ctx, cancel = context.WithCancel(cmd.Context())
	defer cancel()
	if _, err = os.Stat(cfg.StorePath); err == nil {
		head, err = store.ReadAudit(ctx, cfg.StorePath, since, each)
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return head, fail(exitFailed, "start hookd once, or name its home with LIBREFANG_HOME",
			"there is no database %s", cfg.StorePath)
	case err != nil:
		return head, fail(exitFailed, "see what is in its way with `hookd doctor`", "read %s: %w", cfg.StorePath, err)
	}
	return head, nil
}

func printAuditReport(p *printer, r audit.Report) {
	if r.Records == 0 && len(r.Findings) == 0 {
		p.line("the chain is empty: nothing was recorded yet")
		return
	}
	what := "each is as it was written"
	if n := len(r.Findings) + r.More; n > 0 {
		what = p.paint(red, card.Plural(n, "finding"))
	}
	pruned := ""
	if r.Pruned > 0 {
		pruned = fmt.Sprintf("up to %d; the first that is left stands on them", r.Pruned)
	}
	p.pairs(
		kv("records", fmt.Sprintf("%d, from %d to %d", r.Records, r.First, r.Head.N)),
		kv("pruned", pruned),
		kv("head", r.HeadText),
	)
	p.line(what)
	for _, f := range r.Findings {
		p.line("  " + p.paint(red, f.What) + "  " + escape(f.Text, keepNothing))
	}
	if r.More > 0 {
		p.linef("  and %d more", r.More)
	}
}

func auditExportCommand(a *app) *cobra.Command {
	var since string
	cmd := &cobra.Command{
		Use:   "export",
		Short: "Write the chain as one JSON object a line",
		Long: `export writes each record with its hash and that of the one before, so that
` + "`hookd audit verify FILE`" + ` checks the export, too.`,
		Example: `  hookd audit export > audit.ndjson
  hookd audit export --since 7d`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			var from time.Time
			if since != "" {
				var err error
				if from, err = sinceTime(since); err != nil {
					return fail(exitUsage, "write a time such as 7d, or 2026-11-22T10:00:00Z", "--since %q is no time", since)
				}
			}
			out := bufio.NewWriterSize(a.out, 1<<16)
			_, err := readAudit(a, cmd, from, func(r audit.Link, prev audit.Hash) error {
				_, err := out.Write(r.Line(prev))
				return err
			})
			if err == nil {
				err = out.Flush()
			}
			return err
		},
	}
	cmd.Flags().StringVar(&since, "since", "", "only records since then: 7d, yesterday, 2006-01-02")
	return cmd
}

// sinceTime reads how long ago, or when.
func sinceTime(text string) (time.Time, error) {
	at, ok := duration.Moment(text, time.Now())
	if !ok {
		return at, fmt.Errorf("%q is no time such as 7d, yesterday, 09:00 or 2006-01-02", text)
	}
	return at, nil
}
