package doctor

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"

	"github.com/hookd/hookd/internal/agents/connect"
	"github.com/hookd/hookd/internal/base/config"
	"github.com/hookd/hookd/internal/base/readfile"
	"github.com/hookd/hookd/internal/door/loopback"
)

// maxTokenFile bounds each file in the home that is searched for the token, in bytes.
const maxTokenFile = 1 << 20

// httpToken checks http.listen, and each file that has its token: which users can
// read one can have hooks run.
func (v *visit) httpToken() {
	if v.status != nil && v.status.HTTP != nil && !v.status.HTTP.Open {
		v.say("http", Problem, "ss -ltnp", "%s", v.status.HTTP.Error)
	}
	token := readToken(v.Config)
	copies := copiesInHome(v.Config, token)
	for _, agent := range loopback.Agents() {
		o := connect.Options{Agent: agent, Post: &connect.Post{}}
		if v.Config.HTTPListen != "" {
			o.Post.URL = loopback.URL(v.Config.HTTPListen, agent)
		}
		of, err := connect.TokenCopies(o, token)
		if err != nil {
			v.say("token", Note, "hookd connect", "the settings of %s cannot be read: %v", agent, err)
		}
		copies = append(copies, of...)
	}
	var sound []string
	for _, c := range copies {
		switch {
		case c.Exposed():
			v.say(
				"token",
				Problem,
				"hookd token rotate",
				"%s has mode %04o and holds the token of http.listen: a user who has read it can have hooks run",
				c.Path,
				c.Mode,
			)
		case !c.Current:
			v.say(
				"token",
				Problem,
				"hookd token rotate",
				"%s holds an old token of http.listen, so the agent that shows it is refused and reaches no hook",
				c.Path,
			)
		default:
			sound = append(sound, c.Path)
		}
	}
	if len(sound) > 0 && len(sound) == len(copies) {
		v.say("token", OK, "", "only you can read it, in %s", strings.Join(sound, ", "))
	}
}

// isTokenFile reports whether a file is the file of a token.
func isTokenFile(c config.Config, path string) bool {
	return path == c.TokenFile() || path == c.MetricsTokenFile() && c.MetricsListen != ""
}

// metricsToken checks metrics.listen, and the file of its token.
func (v *visit) metricsToken() {
	if v.Config.MetricsListen == "" {
		return
	}
	path := v.Config.MetricsTokenFile()
	info, err := os.Stat(path)
	switch {
	case err != nil:
		v.say("metrics", Note, "hookd serve", "the token for metrics on %s is made when hookd starts: %v",
			v.Config.MetricsListen, err)
	case info.Mode().Perm()&0o077 != 0:
		v.say("metrics", Problem, "hookd token rotate", "%s has mode %04o: others may read metrics, and hookd shows none until "+
			"it has a token that only you can read", path, info.Mode().Perm())
	default:
		v.say("metrics", OK, "", "are read on %s with the token in %s", v.Config.MetricsListen, path)
	}
}

// readToken returns the content of the token's file, whichever users can read it.
func readToken(c config.Config) string {
	text, _ := readfile.Read(c.TokenFile(), maxTokenFile) // where there is none, no file holds it
	return strings.TrimSpace(string(text))
}

// copiesInHome finds the token in the home's own files.
func copiesInHome(c config.Config, token string) (copies []connect.TokenCopy) {
	if token == "" {
		return nil
	}
	for _, dir := range []string{c.Home, filepath.Dir(c.TokenFile())} {
		entries, _ := os.ReadDir(dir) // what cannot be read is examined by home
		for _, e := range entries {
			path := filepath.Join(dir, e.Name())
			info, err := e.Info()
			if err != nil || !info.Mode().IsRegular() {
				continue
			}
			if text, err := readfile.Read(path, maxTokenFile); err == nil && bytes.Contains(text, []byte(token)) {
				copies = append(copies, connect.TokenCopy{Path: path, Mode: info.Mode().Perm(), Current: true})
			}
		}
	}
	return copies
}
