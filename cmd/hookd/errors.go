package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/hookd/hookd/client"
	"github.com/hookd/hookd/internal/base/spell"
	"github.com/hookd/hookd/internal/people/service"
)

// Exit codes, which scripts rely on: see docs/README.md.
const (
	exitOK         = 0
	exitFailed     = 1 // something failed, or an event was denied
	exitUsage      = 2
	exitNotRunning = 3 // also of bare hookd: an agent is unguarded, or a denial was disobeyed
	exitNoAnswer   = 4
	exitRejected   = 5 // configuration
	exitPart       = 3 // of an undo: something is not back
	exitConflict   = 4 // of an undo: something changed since; nothing was changed
)

// failure is an error as a person sees it: its text, and the command to type next.
type failure struct {
	code int
	err  error
	hint string // "" only when err is nil
}

func (f *failure) Error() string {
	if f.err == nil {
		return ""
	}
	return f.err.Error()
}

func (f *failure) Unwrap() error { return f.err }

// permissionsHint begins the hint of an error at a folder; on a full disk fail says another.
const permissionsHint = "see the permissions of "

// fail makes an error with an exit code and the command to type next; a hint of "" is found by the error.
func fail(code int, hint, format string, args ...any) error {
	err := fmt.Errorf(format, args...)
	var at *fs.PathError
	if hint == "" && errors.As(err, &at) {
		hint = permissionsHint + filepath.Dir(at.Path)
	}
	if dir, is := strings.CutPrefix(hint, permissionsHint); is && errors.Is(err, syscall.ENOSPC) {
		hint = "make room there: see `df -h " + dir + "`"
	}
	if hint == "" {
		hint = explain(err).hint
	}
	return &failure{code, err, hint}
}

// said is an exit code whose reason has been printed as the command's answer.
func said(code int) error { return &failure{code: code} }

// usage turns cobra's error about a command line into an error of ours.
func usage(cmd *cobra.Command, err error) error {
	var f *failure
	if errors.As(err, &f) {
		return err
	}
	text, more, _ := strings.Cut(err.Error(), "\n")
	hint := "see `" + cmd.CommandPath() + " --help`"
	if _, near, ok := strings.Cut(more, "Did you mean this?"); ok {
		if words := strings.Fields(near); len(words) > 0 {
			_, typed, _ := strings.Cut(text, `"`)
			typed, _, _ = strings.Cut(typed, `"`)
			word := spell.Near(typed, words)
			if word == "" && strings.HasPrefix(words[0], typed) {
				word = words[0] // cobra's words are near by a measure of its own: of short ones, all
			}
			if word != "" {
				hint = "did you mean `" + cmd.CommandPath() + " " + word + "`? All commands: `hookd --help`"
			}
		}
	}
	var unknown *pflag.NotExistError
	var wrong *pflag.InvalidValueError
	switch {
	case strings.HasPrefix(text, "if any flags in the group ["): // cobra's text has no type
		_, both, _ := strings.Cut(text, "; [")
		both, _, _ = strings.Cut(both, "]")
		text = "--" + strings.Join(strings.Fields(both), " and --") + " say different things"
		hint = "leave out all but one; " + hint
	case errors.As(err, &unknown):
		hint = meantFlag(cmd, unknown.GetSpecifiedName()) + hint
	case errors.As(err, &wrong):
		text = wrongValue(wrong)
	}
	return &failure{exitUsage, errors.New(text), hint}
}

// wrongValue tells the mistake in the value of a flag.
func wrongValue(e *pflag.InvalidValueError) string {
	flag := "--" + e.GetFlag().Name
	var parsed *strconv.NumError
	switch {
	case !errors.As(e.Unwrap(), &parsed):
		return flag + ": " + e.Unwrap().Error()
	case errors.Is(parsed, strconv.ErrRange):
		return fmt.Sprintf("%s is %s, which is too large", flag, e.GetValue())
	case e.GetFlag().Value.Type() == "bool":
		return fmt.Sprintf("%s is %q, not true or false", flag, e.GetValue())
	}
	return fmt.Sprintf("%s is %q, not a whole number", flag, e.GetValue())
}

// meantFlag is meant for a flag of a command, without its dashes.
func meantFlag(cmd *cobra.Command, typed string) string {
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			names = append(names, f.Name)
		}
	})
	near := spell.Near(typed, names)
	if near == "" {
		return ""
	}
	return "did you mean --" + near + "? "
}

// explain gives any error an exit code and a next command.
func explain(err error) *failure {
	var f *failure
	refused := refusalIn(err)
	var installing *service.Error
	switch {
	case errors.As(err, &f):
		return f
	case errors.As(err, &installing):
		return &failure{exitFailed, installing, installing.Do}
	case errors.Is(err, client.ErrForeign):
		return &failure{exitNotRunning, err, "set LIBREFANG_HOME to a folder that only you can write to, then type `hookd serve`"}
	case errors.Is(err, client.ErrNotRunning):
		return &failure{exitNotRunning, err, toStart()}
	case refused != nil:
		return refusal(err, refused)
	case errors.Is(err, client.ErrTimeout), errors.Is(err, context.DeadlineExceeded):
		return &failure{exitNoAnswer, err, "see why with `hookd doctor`, or allow more with --answer-within"}
	case errors.Is(err, context.Canceled):
		return &failure{exitFailed, errors.New("interrupted"), "see what ran with `hookd log runs`"}
	}
	return &failure{exitFailed, err, "see what is wrong with `hookd doctor`"}
}

// inFlags tells a refusal of a field or a parameter in the words of the flag that it was typed as, and names
// the help of its command. A hint in JSON gives way to the purpose of the flag.
func inFlags(cmd *cobra.Command, err error) error {
	refused := refusalIn(err)
	if refused == nil {
		return err
	}
	var f *failure
	ours := errors.As(err, &f)
	said, flag := *refused, flagOf(cmd, refused.Field)
	if flag == nil || !flag.Changed {
		if said.Code == client.CodeBadRequest && !ours && !strings.Contains(said.Hint, "hookd ") {
			said.Hint = strings.TrimPrefix(said.Hint+"; see `"+cmd.CommandPath()+" --help`", "; ")
			return &said
		}
		return err
	}
	_, problem, _ := strings.Cut(refused.Message, refused.Field) // it begins with the field, maybe in backquotes
	said.Message = "--" + flag.Name + strings.TrimPrefix(problem, "`")
	if strings.Contains(said.Hint, `"`+refused.Field+`":`) {
		value, usage := pflag.UnquoteUsage(flag)
		said.Hint = "type --" + flag.Name + " " + cmp.Or(value, flag.Value.Type()) + ": " + usage
	}
	if ours {
		return &failure{f.code, &said, f.hint}
	}
	return &failure{exitUsage, &said, said.Hint + "; see `" + cmd.CommandPath() + " --help`"}
}

// flagOf is the flag that a field of a body is typed as; nil = there is none.
func flagOf(cmd *cobra.Command, field string) *pflag.Flag {
	name := strings.ReplaceAll(field, "_", "-")
	return cmp.Or(cmd.Flags().Lookup(name), cmd.Flags().Lookup(strings.TrimSuffix(name, "-id")))
}

// refusal is an error that the daemon, or the parser it uses, gave.
func refusal(err error, e *client.Error) *failure {
	f := &failure{exitFailed, err, e.Hint}
	switch e.Code {
	case client.CodeBadJSON, client.CodeBadEventName, client.CodeBadData, client.CodeBadField, client.CodeBadRequest,
		client.CodeReserved:
		f.code = exitUsage
	case client.CodeRejected:
		f.code = exitRejected
	}
	if !strings.Contains(f.hint, "hookd ") {
		f.hint = strings.TrimPrefix(f.hint+"; "+nextFor(e.Code), "; ")
	}
	return f
}

// nextFor names a command that sheds light on a refusal.
func nextFor(code client.Code) string {
	switch code {
	case client.CodeBadEventName, client.CodeReserved:
		return "see the known events with `hookd events`"
	case client.CodeBadJSON, client.CodeBadData, client.CodeBadField, client.CodeBadRequest, client.CodeTooLarge:
		return "see `hookd emit --help`"
	case client.CodeNotFound:
		return "see what there is with `hookd list` and `hookd log runs`"
	case client.CodeRejected:
		return "see what is wrong with `hookd validate`"
	}
	return "see the daemon's state with `hookd status`"
}

// report prints an error and returns its exit code.
func (a *app) report(err error) int {
	f := explain(err)
	if f.err == nil {
		return f.code
	}
	f.hint = placed()(f.hint)
	if a.format == "json" {
		a.reportJSON(f)
		return f.code
	}
	p := a.printer(a.errOut)
	p.hung(2, p.paint(red, "hookd:"), " ", escape(f.Error(), keepNewlines))
	p.hung(2, "hint: ", escape(f.hint, keepNewlines))
	return f.code
}

// reportJSON prints it in the shape of the socket's errors.
func (a *app) reportJSON(f *failure) {
	code := client.Code(map[int]string{exitUsage: "usage", exitNotRunning: "not_running", exitNoAnswer: "no_answer",
		exitRejected: "rejected"}[f.code])
	if refused := refusalIn(f.err); refused != nil {
		code = refused.Code
	}
	if code == "" {
		code = "failed"
	}
	body, err := json.Marshal(map[string]*client.Error{"error": {Code: code, Message: f.Error(), Hint: f.hint}})
	if err == nil {
		io.WriteString(a.errOut, escape(string(body), keepNothing)+"\n")
	}
}

// refusalIn returns the refusal in err's chain, from the daemon or from the parser that the
// daemon uses; nil where there is none.
func refusalIn(err error) *client.Error {
	var refused *client.Error
	errors.As(err, &refused)
	return refused
}
