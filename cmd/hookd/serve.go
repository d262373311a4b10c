package main

import (
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/hookd/hookd/internal/base/config"
	"github.com/hookd/hookd/internal/base/logsink"
	"github.com/hookd/hookd/internal/daemon"
	"github.com/hookd/hookd/internal/discovery/catalog"
	"github.com/hookd/hookd/internal/proc"
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
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return serve(a, cmd) },
	}
	settingFlags(cmd)
	hookFlags(cmd)
	return cmd
}

func serve(a *app, cmd *cobra.Command) error {
	if err := proc.Conceal(); err != nil { // before there is anything to see
		return fail(exitFailed, "see whether a sandbox forbids prctl", "keep the daemon's memory from other processes: %w", err)
	}
	cfg, err := loadConfig(cmd)
	if err != nil {
		return err
	}
	commands, dir, err := hooksGiven(cmd)
	if err != nil {
		return fail(exitFailed, "start it in a folder that exists", "find the current folder: %w", err)
	}
	// A log that is closed at the other end is written in vain: without this the
	// system would end hookd. Hooks are not touched by it, as they would be by ignoring the signal.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	log, level, sink := newLogger(cfg, a.errOut)
	defer sink.Close()
	defer log.Sync() // writes what was left out
	d, err := daemon.New(daemon.Options{
		Config:      cfg,
		Reconfigure: func() (config.Config, error) { return loadConfig(cmd) },
		Hooks:       catalog.FlagHooks(commands, dir),
		Version:     build().Version,
		Commit:      build().Commit,
		Log:         log,
		Level:       level,
		ShareToken: func(token string) error {
			_, err := shareToken(cfg, token, "")
			return err
		},
	})
	if mend := daemon.Mend(err); mend != "" {
		hint := "type `" + mend + "`"
		if !strings.HasSuffix(mend, "hookd serve") {
			hint += ", then `hookd serve`"
		}
		return fail(exitRejected, hint, "%w", err)
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
// settings ask for them. All text is escaped, as fields may hold text from an
// agent or a hook; JSON means the same then. Nothing that logs waits for w: the
// sink writes, which is to be closed at the end.
func newLogger(cfg config.Config, w *os.File) (*zap.Logger, zap.AtomicLevel, *logsink.Sink) {
	level, err := zap.ParseAtomicLevel(cfg.LogLevel)
	if err != nil {
		level = zap.NewAtomicLevel() // not reached: config checks the word
	}
	enc := encoder(cfg.LogFormat == "console" || cfg.LogFormat == "" && isTerminal(w))
	// a file or a journal ends on a terminal, too
	sink := logsink.New(escaper{w}, func(dropped uint64) []byte { return droppedLine(enc, dropped) })
	return zap.New(logsink.Sampled(zapcore.NewCore(enc, sink, level))), level, sink
}

func encoder(console bool) zapcore.Encoder {
	enc := zap.NewProductionEncoderConfig()
	enc.EncodeTime = zapcore.RFC3339NanoTimeEncoder
	enc.EncodeDuration = zapcore.StringDurationEncoder
	if !console {
		return zapcore.NewJSONEncoder(enc)
	}
	enc.EncodeTime = zapcore.TimeEncoderOfLayout("15:04:05.000")
	enc.EncodeLevel = zapcore.CapitalLevelEncoder
	return zapcore.NewConsoleEncoder(enc)
}

// droppedLine reports lines that the log did not accept in time.
func droppedLine(enc zapcore.Encoder, dropped uint64) []byte {
	entry := zapcore.Entry{Level: zapcore.WarnLevel, Time: time.Now(), LoggerName: "log",
		Message: "log lines were dropped: what reads the log was too slow, or was gone"}
	line, err := enc.Clone().EncodeEntry(entry, []zapcore.Field{zap.Uint64("dropped", dropped)})
	if err != nil {
		return nil
	}
	defer line.Free()
	return append([]byte{}, line.Bytes()...)
}
