package doctor

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/hookd/hookd/client"
	"github.com/hookd/hookd/internal/base/escape"
	"github.com/hookd/hookd/internal/base/trust"
	"github.com/hookd/hookd/internal/people/card"
)

// Free space below this is reported: SQLite and the temporary files of large payloads
// need little, but a full disk loses history and refuses events.
const (
	diskProblem = 64 << 20
	diskNote    = 1 << 30
)

// disk checks the file system of the database.
func (v *visit) disk() {
	dir := filepath.Dir(v.Config.StorePath)
	for dir != filepath.Dir(dir) {
		if _, err := os.Stat(dir); err == nil {
			break
		}
		dir = filepath.Dir(dir)
	}
	var fs unix.Statfs_t
	if err := unix.Statfs(dir, &fs); err != nil {
		v.say("disk", Note, "df "+escape.Quote(dir), "free space cannot be seen: %v", err)
		return
	}
	free, do := uint64(fs.Bavail)*uint64(fs.Bsize), "df -h "+escape.Quote(dir)
	switch {
	case free < diskProblem:
		v.say("disk", Problem, do, "%d MiB are free at %s: events will soon be refused", free>>20, dir)
	case fs.Files > 0 && fs.Ffree == 0:
		v.say("disk", Problem, "df -i "+escape.Quote(dir), "no inodes are free at %s: no file can be made", dir)
	case free < diskNote:
		v.say(
			"disk",
			Note,
			do,
			"%d MiB are free at %s; the history may take %d MiB (history.max_bytes)",
			free>>20,
			dir,
			v.Config.HistoryMaxBytes>>20,
		)
	default:
		v.say("disk", OK, "", "%.1f GiB are free at %s", float64(free)/(1<<30), dir)
	}
}

// store reports the state of the daemon's database.
func (v *visit) store() {
	if v.status == nil {
		return
	}
	s, whole := v.status.Store, true
	say := func(level Level, do, format string, args ...any) {
		v.say("store", level, do, format, args...)
		whole = false
	}
	if !s.OK {
		say(
			Problem,
			"df -h "+escape.Quote(filepath.Dir(s.Path)),
			"%s cannot be written since %s: %s",
			s.Path,
			s.Since.Local().Format("2006-01-02 15:04:05"),
			s.Error,
		)
	}
	if s.Lost > 0 {
		say(Note, "hookd status", "%s could not be kept since the daemon started",
			card.Plural(int(s.Lost), "record"))
	}
	for _, l := range s.Losses {
		level := Problem
		if l.Lost == 0 && !l.More && l.Path != "" {
			level = Note
		}
		say(level, "hookd recover", "%s", LossText(l))
	}
	if s.DeadLetters > 0 {
		say(Note, "hookd dev dead", "%s given up, to be looked at", card.Plural(int(s.DeadLetters), "run"))
	}
	if whole {
		v.say("store", OK, "", "%s, %s, %.1f MiB", card.Plural(int(s.Events), "event"), card.Plural(int(s.Runs), "run"),
			float64(s.Bytes)/(1<<20))
	}
}

// LossText says in one line how much was lost or set aside, when, and where it is.
func LossText(l client.Loss) string {
	since := l.Time.Local().Format("2006-01-02 15:04:05")
	what := "no accepted run is known to be lost"
	switch {
	case l.Lost == 0 && !l.More && l.DeadLetters == 0 && l.Path == "": // no runs are meant, as of the audit chain
		return l.Why + ", seen at " + since
	case l.Lost > 0 && l.More:
		what = fmt.Sprintf("at least %d of the accepted runs did not run", l.Lost)
	case l.Lost > 0:
		what = fmt.Sprintf("%d of the accepted runs did not run", l.Lost)
	case l.More:
		what = "accepted runs may not run; their number is not known"
	}
	if l.DeadLetters > 0 {
		what += fmt.Sprintf(", %d dead letters are gone", l.DeadLetters)
	}
	text := fmt.Sprintf("%s, since %s: %s", what, since, l.Why)
	if l.Path != "" {
		text += "; the file is " + l.Path
	}
	return text
}

// ahead is how far a record may be in the future without a report.
const ahead = 2 * time.Minute

// clock reports records that are later than now: the clock was ahead once, or is
// behind now.
func (v *visit) clock(ctx context.Context) {
	now := time.Now()
	if v.status == nil {
		if info, err := os.Stat(v.Config.StorePath); err == nil && info.ModTime().After(now.Add(ahead)) {
			v.say(
				"clock",
				Note,
				setClock,
				"the database was written at %s, which is in the future: the clock is wrong, or was",
				info.ModTime().Format(time.RFC3339),
			)
		}
		return
	}
	ctx, cancel := v.ask(ctx)
	defer cancel()
	runs, err := v.Client.Runs(ctx, client.RunQuery{Since: now.Add(ahead), Limit: 1})
	switch {
	case err != nil:
		v.say("clock", Note, "hookd log runs", "the history cannot be read: %v", err)
	case len(runs) > 0:
		v.say(
			"clock",
			Note,
			setClock,
			"run %s began at %s, which is in the future: the clock is wrong, or was",
			runs[0].ID,
			runs[0].Started.Format(time.RFC3339),
		)
	case v.status.Started.After(now.Add(ahead)):
		v.say(
			"clock",
			Note,
			setClock,
			"the daemon started at %s, which is in the future: the clock was set back",
			v.status.Started.Format(time.RFC3339),
		)
	default:
		v.say("clock", OK, "", "%s; no record is later", now.Format(time.RFC3339))
	}
}

// searchPath checks the folders in which hooks find programs.
func (v *visit) searchPath() {
	whose := "this shell's; a daemon may have another"
	switch {
	case v.Config.Path != "":
		whose = "`path` in the settings"
	case v.status != nil:
		whose = "the daemon's"
	}
	v.say("path", OK, "", "%s (%s)", v.path, whose)
	for _, dir := range filepath.SplitList(v.path) {
		if !filepath.IsAbs(dir) {
			v.say(
				"path",
				Note,
				"hookd install",
				"%q in the PATH of hooks is relative: what it means depends on the folder; leave it out",
				dir,
			)
			continue
		}
		for _, r := range trust.Of(v.uid).Seal(trust.Files{Folder: dir}).Refusals() {
			above := ""
			if r.Path != dir {
				above = r.Path + ", which leads to "
			}
			v.say(
				"path",
				Problem,
				r.Do,
				"%s%s in the PATH of hooks, %s: others can put a program there",
				above,
				dir,
				r.Fact,
			)
		}
	}
}

// elsewhere returns where the user's own PATH has a program; "" for nowhere.
func (v *visit) elsewhere(name string) string {
	for _, dir := range filepath.SplitList(v.UserPath) {
		file := filepath.Join(dir, name)
		if info, err := os.Stat(file); err == nil && filepath.IsAbs(file) && info.Mode().IsRegular() &&
			info.Mode()&0o111 != 0 &&
			!strings.Contains(name, "/") {
			return file
		}
	}
	return ""
}
