package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
)

func metricsCommand(a *app) *cobra.Command {
	var file string
	cmd := &cobra.Command{
		Use:   "metrics",
		Short: "Print hookd's metrics in the text format of Prometheus",
		Long: `metrics prints what the daemon counts. With --textfile it writes that into a file for
node_exporter's textfile collector, which then carries it to Prometheus: the file is
replaced in one step, so the collector never reads half a file. Run it once a minute.`,
		Example: `  hookd metrics
  hookd metrics --textfile ~/metrics/hookd.prom`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx, cancel := a.answer(cmd)
			defer cancel()
			text, err := a.dial(cmd).Metrics(ctx)
			if err != nil {
				return err
			}
			if file == "" {
				_, err := a.out.Write(text)
				return err
			}
			return writeTextfile(file, text)
		},
	}
	cmd.Flags().StringVar(&file, "textfile", "", "write them into this file, which ends in .prom, and print nothing")
	_ = cmd.MarkFlagFilename("textfile", "prom")
	return cmd
}

func writeTextfile(file string, text []byte) error {
	if filepath.Ext(file) != ".prom" {
		return fail(exitUsage, "name it hookd.prom", "%s: node_exporter reads files that end in .prom alone", file)
	}
	temp, err := os.CreateTemp(filepath.Dir(file), ".hookd-*") // of another ending, so it is not read
	if errors.Is(err, fs.ErrNotExist) {
		return fail(exitFailed, "type `mkdir -p "+filepath.Dir(file)+"`", "write %s: its folder is missing", file)
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", file, err)
	}
	defer os.Remove(temp.Name()) // gone by then when all went well
	_, err = temp.Write(text)
	err = errors.Join(err, temp.Chmod(0o644), temp.Close()) // node_exporter runs as another user
	if err == nil {
		err = os.Rename(temp.Name(), file)
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", file, err)
	}
	return nil
}
