package main

import (
	"os"

	"github.com/spf13/cobra"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/hookd/hookd/internal/config"
	"github.com/hookd/hookd/internal/daemon"
)

func serveCommand(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Run the daemon in the foreground",
		Long: `serve runs the daemon until SIGTERM or SIGINT, which lets running hooks finish
within 10 s; a second one stops at once. SIGHUP reads settings and hooks again.

Each setting may be a flag, a variable (HOOKD_ and the key in upper snake case)
or a key of hookd.yaml in the home; the first of these wins. The home is
$LIBREFANG_HOME, else ~/.librefang.`,
		Example: `  hookd serve
  hookd serve --log-level debug --reload-mode manual`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return serve(a, cmd) },
	}
	settingFlags(cmd)
	hookFlags(cmd)
	return cmd
}

func serve(a *app, cmd *cobra.Command) error {
	cfg, err := loadConfig(cmd)
	if err != nil {
		return err
	}
	commands, dir, err := hooksGiven(cmd)
	if err != nil {
		return fail(exitFailed, "start it in a folder that exists", "find the current folder: %w", err)
	}
	log, level := newLogger(cfg, a.errOut)
	defer log.Sync()
	d, err := daemon.New(daemon.Options{
		Config:      cfg,
		Reconfigure: func() (config.Config, error) { return loadConfig(cmd) },
		Hooks:       daemon.FlagHooks(commands, dir),
		Version:     build().Version,
		Commit:      build().Commit,
		Log:         log,
		Level:       level,
	})
	if mend := daemon.Mend(err); mend != "" {
		return fail(exitRejected, "type `"+mend+"`, then `hookd serve`", "%w", err)
	}
	if err != nil {
		return fail(exitFailed, "see what is in its way with `hookd doctor`, or choose another home with LIBREFANG_HOME", "%w", err)
	}
	if err := d.Run(cmd.Context()); err != nil {
		return fail(exitFailed, "start it again with `hookd serve`", "%w", err)
	}
	return nil
}

// newLogger logs to w: JSON, or lines for people when w is a terminal or the
// settings ask for them. All of it is escaped, as fields may hold text from an
// agent or a hook; JSON means the same then.
func newLogger(cfg config.Config, w *os.File) (*zap.Logger, zap.AtomicLevel) {
	level, err := zap.ParseAtomicLevel(cfg.LogLevel)
	if err != nil {
		level = zap.NewAtomicLevel() // not reached: config checks the word
	}
	enc := zap.NewProductionEncoderConfig()
	enc.EncodeTime = zapcore.RFC3339NanoTimeEncoder
	enc.EncodeDuration = zapcore.StringDurationEncoder
	out := escaper{w} // a file or a journal ends on a terminal, too
	if cfg.LogFormat == "console" || cfg.LogFormat == "" && isTerminal(w) {
		enc.EncodeTime = zapcore.TimeEncoderOfLayout("15:04:05.000")
		enc.EncodeLevel = zapcore.CapitalLevelEncoder
		return zap.New(zapcore.NewCore(zapcore.NewConsoleEncoder(enc), zapcore.Lock(zapcore.AddSync(out)), level)), level
	}
	return zap.New(zapcore.NewCore(zapcore.NewJSONEncoder(enc), zapcore.Lock(zapcore.AddSync(out)), level)), level
}
