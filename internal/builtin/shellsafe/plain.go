package shellsafe

import (
	"regexp"
	"slices"
	"strings"
)

// interpreters run text of their own language, which may run commands.
var interpreters = set(`
		awk gawk mawk nawk python python2 python3 pypy pypy3 ipython perl ruby irb node nodejs deno bun php
		lua luajit tclsh wish expect osascript rscript r julia ghci scala groovy jshell swift elixir erl iex
		racket guile vi vim nvim ex ed emacs gdb lldb mysql psql sqlite3 ftp lftp sftp m4 bc dc gnuplot
		octave tar bsdtar rsync zip powershell pwsh cmd at batch crontab watch screen tmux script`)

// plainPrograms run none of the words that they are given, but behind the options
// named here, of which the beginning is enough.
var plainPrograms = map[string][]string{
	"sort": {"--co"}, "rg": {"--pre", "--ho"}, "split": {"--f"}, "wget": {"--use-a", "-e", "--exec"},
	"less": {"+"}, "more": {"+"}, "curl": {"-K", "--config"}, "ag": {"--pager"},
	"gh": {"alias", "extension", "codespace", "config"},
}

func init() {
	for name := range set(`
		echo printf true false : test [ cd pwd pushd popd dirs ls cat head tail wc uniq cut tr grep egrep
		fgrep zgrep diff cmp comm stat file du df basename dirname realpath readlink date sleep seq touch
		mkdir rmdir rm unlink shred mv cp ln install chmod chown chgrp chattr tee mktemp which type whereis
		hash read kill killall pkill pgrep ps whoami id groups uname hostname uptime free lsof ss netstat
		ping dig host nslookup jq yq tree md5sum shasum sha1sum sha256sum sha512sum cksum base64 base32 xxd
		od hexdump strings fold nl tac rev paste column fmt expand unexpand join gzip gunzip bzip2 xz zstd
		unzip truncate dd sync mkfs fdisk mount umount swapoff shutdown reboot halt poweroff useradd userdel
		usermod groupadd groupdel passwd printenv exit return break continue shift wait jobs fg bg umask
		ulimit times let getopts history clear tput tty stty cal expr factor numfmt yes`) {
		plainPrograms[name] = []string{}
	}
}

// plainGit are the subcommands of git that run none of their words, but behind options
// that name a program.
var plainGit = set(`
		add commit status log diff show tag branch checkout switch restore stash merge reset rm mv blame
		push pull fetch remote rev-parse rev-list describe ls-files ls-tree cat-file shortlog reflog
		revert clean notes worktree sparse-checkout apply am format-patch`)

// gitRuns are the options of these subcommands that name a program, by their beginnings.
var gitRuns = []string{"--ex", "--up", "--rec"}

// evaluates are the builtins of shells that evaluate words, and run what stands in an
// index there.
var evaluates = set("test [ printf read let unset getopts wait shift exit return times")

var sedRuns = regexp.MustCompile(`(?:^|[;{}\n/0-9$,!])\s*e(?:\s|$|;)|/[a-zA-Z0-9]*e[a-zA-Z0-9]*\s*(?:$|[;}\n])`)

// runsNoWords reports whether a program runs none of its words as a command. What is
// not known may run them.
func runsNoWords(program string, args []arg) bool {
	switch program {
	case "git":
		return isPlainGit(args)
	case "sed", "gsed":
		return !slices.ContainsFunc(args, func(a arg) bool { return a.dynamic || sedRuns.MatchString(a.text) })
	case "awk", "gawk", "mawk", "nawk":
		return !slices.ContainsFunc(args, func(a arg) bool {
			return a.dynamic || a.text == "-f" || strings.ContainsAny(a.text, "|@") ||
				strings.Contains(a.text, "system") || strings.Contains(a.text, "getline")
		})
	}
	hasIndex := func(a arg) bool { return strings.Contains(a.text, "[") && strings.ContainsAny(a.text, "$`") }
	if evaluates[program] && slices.ContainsFunc(args, hasIndex) {
		return false
	}
	runs, known := plainPrograms[program]
	return known && !slices.ContainsFunc(args, func(a arg) bool { return beginsWithAny(a, runs) })
}

// beginsWithAny reports whether a word begins with one of the texts, or may.
func beginsWithAny(a arg, texts []string) bool {
	return slices.ContainsFunc(texts, func(text string) bool {
		return strings.HasPrefix(a.text, text) || a.mayBeFlag() || a.dynamic && strings.HasPrefix(text, a.text)
	})
}

// isPlainGit looks for the subcommand, and for options that make git run something.
func isPlainGit(args []arg) bool {
	for i := 0; i < len(args); i++ {
		a := args[i]
		switch {
		case a.dynamic || a.pattern:
			return false
		case a.text == "-C" || a.text == "--git-dir" || a.text == "--work-tree" || a.text == "--namespace":
			i++
		case a.text == "-c" || strings.HasPrefix(a.text, "--config-env") || strings.HasPrefix(a.text, "--exec-path"):
			return false
		case strings.HasPrefix(a.text, "-"):
		default:
			rest := args[i+1:]
			isOption := func(a arg) bool { return beginsWithAny(a, gitRuns) }
			return plainGit[a.text] && !slices.ContainsFunc(rest, isOption)
		}
	}
	return true
}

func set(words string) map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields(words) {
		m[w] = true
	}
	return m
}
