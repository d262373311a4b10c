package main

import (
	"cmp"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// Set by the linker (-ldflags -X, see the Makefile); an empty value comes from
// the build's own record.
var version, commit string

type buildInfo struct {
	Version string `json:"version"`
	Commit  string `json:"commit,omitempty"`
	Go      string `json:"go"`
	System  string `json:"system"`
}

func build() buildInfo {
	b := buildInfo{Version: version, Commit: commit, Go: runtime.Version(), System: runtime.GOOS + "/" + runtime.GOARCH}
	if info, ok := debug.ReadBuildInfo(); ok {
		if info.Main.Version != "(devel)" {
			b.Version = cmp.Or(b.Version, info.Main.Version)
		}
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" {
				b.Commit = cmp.Or(b.Commit, s.Value)
			}
		}
	}
	b.Version = cmp.Or(b.Version, "devel")
	return b
}

func (b buildInfo) String() string {
	line := "hookd " + b.Version
	if b.Commit != "" {
		line += " (" + shorten(b.Commit, 12) + ")"
	}
	return line + " " + b.Go + " " + b.System
}

func versionCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  noArgs,
		RunE: func(*cobra.Command, []string) error {
			b := build()
			return a.print(b, func(p *printer) { p.line(b.String()) })
		},
	}
}
