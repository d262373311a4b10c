package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hookd/hookd/internal/agents/connect"
	"github.com/hookd/hookd/internal/base/config"
)

// bridgePath finds hookd-bridge by a path that stays when hookd is updated:
// beside hookd as it was called, symbolic links not followed, since package
// managers keep versions behind them; else on PATH; else beside the program.
func bridgePath() (string, error) {
	const name = "hookd-bridge"
	var tried []string
	beside := func(program string, err error) string {
		if err != nil {
			return ""
		}
		if program, err = filepath.Abs(program); err != nil {
			return ""
		}
		path := filepath.Join(filepath.Dir(program), name)
		tried = append(tried, path)
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return path
		}
		return ""
	}
	if path := beside(exec.LookPath(os.Args[0])); path != "" {
		return path, nil
	}
	if path, err := exec.LookPath(name); err == nil {
		return filepath.Abs(path)
	}
	if path := beside(os.Executable()); path != "" {
		return path, nil
	}
	return "", fail(exitFailed, "install hookd-bridge beside hookd, or set PATH to where it is",
		"no %s, so no agent can be guarded, and nothing was changed: it is not on PATH, nor is there %s", name, strings.Join(slices.Compact(tried), " or "))
}

// moveSource refuses a file that hookd runs itself, or adds to the plan its
// removal from the sources.
func moveSource(a *app, cmd *cobra.Command, p *connect.Plan, f connectFlags) error {
	if f.file == "" {
		return nil
	}
	cfg, err := loadConfig(cmd)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(cfg.Sources, func(s config.Source) bool { return isSource(s, p.File) })
	if i < 0 {
		return nil
	}
	again := f.again("connect", p.Agent)
	file := filepath.Join(cfg.Home, "hookd.yaml")
	if !f.move {
		return fail(exitRejected, "take it off `sources` with `"+again+" --move`",
			"%s is one of hookd's sources, so hookd runs its hooks: %s would run them again", p.File, p.Agent)
	}
	own, err := config.Load(cfg.Home, nil, nil)
	if err != nil || len(own.Sources) <= i || own.Sources[i] != cfg.Sources[i] || own.Sources[i].Path != p.File {
		return fail(exitRejected, "change `sources` by hand, then type `"+again+"`",
			"%s is one of hookd's sources through %s, which names more than this file or does not stand in %s", p.File, cfg.Sources[i].Path, file)
	}
	c, err := connect.DropSource(file, i)
	if err != nil {
		return connectFailure(err, again+" --move")
	}
	question := fmt.Sprintf("Take %s off the sources in %s? hookd runs its hooks no more, %s does.", p.File, file, p.Agent)
	if !f.dry {
		if err := a.confirm(f.yes, question, again+" --move --yes"); err != nil {
			return err
		}
	}
	p.Changes = append(p.Changes, c)
	p.Notes = append(p.Notes, p.File+" is no source of hookd any more: "+p.Agent+" runs its hooks; `hookd disconnect` does not put it back")
	return nil
}

// isSource reports whether a source names a file.
func isSource(s config.Source, file string) bool {
	paths, err := filepath.Glob(s.Path)
	if err != nil {
		return false
	}
	want, err := os.Stat(file)
	if err != nil {
		return false
	}
	return slices.ContainsFunc(paths, func(path string) bool {
		info, err := os.Stat(path)
		return err == nil && os.SameFile(info, want)
	})
}
