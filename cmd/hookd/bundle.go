package main

import (
	"bytes"
	"cmp"
	"crypto/ed25519"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/hookd/hookd/internal/base/duration"
	"github.com/hookd/hookd/internal/base/readfile"
	"github.com/hookd/hookd/internal/hooks/pack"
	"github.com/hookd/hookd/internal/hooks/policy"
	"github.com/hookd/hookd/internal/people/card"
)

func bundleCommand(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "bundle",
		Short: "Make one signed file of hooks, for many machines",
		Long: `bundle makes a folder of hooks one file that is signed, so that machines take it
from a server that need not be trusted: see ` + "`hookd policy`" + `.`,
		Example: `  hookd bundle keygen acme
  hookd bundle build ./hooks --sign acme --out acme.bundle
  hookd bundle show acme.bundle`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(bundleKeygenCommand(a), bundleBuildCommand(a), bundleShowCommand(a))
	return cmd
}

func bundleKeygenCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "keygen FILE",
		Short: "Make a key to sign with",
		Long: `keygen writes an ed25519 key to FILE, which stays secret, and its public half to
FILE.pub, which machines are given. Neither file may exist.`,
		Example: "  hookd bundle keygen acme",
		Args:    one("FILE"),
		RunE: func(_ *cobra.Command, args []string) error {
			public, err := policy.Generate(args[0])
			if errors.Is(err, fs.ErrExist) {
				return fail(exitFailed, "name another file: a key that is lost cannot be made again", "%w", err)
			}
			if err != nil {
				return fail(exitFailed, "name a file in a folder that you can write to", "%w", err)
			}
			answer := struct {
				Secret string `json:"secret_file"`
				Public string `json:"public_file"`
				Key    string `json:"key"`
			}{args[0], args[0] + ".pub", public}
			return a.print(answer, func(p *printer) {
				p.linef("secret key  %s: keep it where bundles are built, and keep a copy", answer.Secret)
				p.linef("public key  %s: %s", answer.Public, answer.Key)
				p.linef("build with: hookd bundle build DIR --sign %s --out FILE", quote(args[0]))
			})
		},
	}
}

// built is the answer of bundle build and show.
type built struct {
	File     string     `json:"file"`
	Name     string     `json:"name"`
	Sequence uint64     `json:"sequence"`
	Expires  *time.Time `json:"expires,omitempty"`
	Key      string     `json:"key,omitempty"` // fingerprint of the key that signed it; "" = it was not checked
	Digest   string     `json:"digest"`
	Hooks    []string   `json:"hooks"`
	Files    int        `json:"files"`
	Bytes    int        `json:"bytes"`
}

func builtOf(file string, size int, b policy.Bundle, key ed25519.PublicKey) built {
	m := b.Manifest
	answer := built{File: file, Name: m.Name, Sequence: m.Sequence, Expires: m.Expires,
		Digest: b.Head.Digest(), Hooks: m.HookFolders(), Files: len(m.Files), Bytes: size}
	if key != nil {
		answer.Key = policy.Fingerprint(key)
	}
	return answer
}

func bundleBuildCommand(a *app) *cobra.Command {
	var sign, out, name, expires string
	var sequence uint64
	cmd := &cobra.Command{
		Use:   "build DIR",
		Short: "Make a bundle of a folder of hooks",
		Long: `build makes one file of the hooks in DIR, or in DIR/hooks, signed with the key of
--sign. The same hooks, name, sequence and key make the same bytes.

Machines take a bundle only if its sequence is greater than that of each one they
had. Without --sequence it is one more than that of the bundle that --out names,
or the same if nothing has changed; where each build begins with nothing, count
there: --sequence "$(git rev-list --count HEAD)".`,
		Example: `  hookd bundle build ./hooks --sign acme --out acme.bundle
  hookd bundle build . --sign acme --out acme.bundle --expires 90d`,
		Args: one("DIR"),
		RunE: func(_ *cobra.Command, args []string) error {
			if sign == "" || out == "" {
				return fail(exitUsage, "type `hookd bundle build DIR --sign FILE --out BUNDLE`", "--sign and --out are needed")
			}
			var until *time.Time
			if expires != "" {
				d, err := duration.Parse(expires)
				if err != nil || d <= 0 {
					return fail(exitUsage, "write a time such as 90d or 12h", "--expires %q is no time", expires)
				}
				t := time.Now().UTC().Add(d).Truncate(time.Second)
				until = &t
			}
			return buildBundle(a, args[0], sign, out, name, sequence, until)
		},
	}
	cmd.Flags().StringVar(&sign, "sign", "", "file of the secret key")
	cmd.Flags().StringVar(&out, "out", "", "file to write")
	cmd.Flags().StringVar(&name, "name", "", "name of the bundle (default: that of the file)")
	cmd.Flags().Uint64Var(&sequence, "sequence", 0, "number that grows with each bundle (default: see above)")
	cmd.Flags().StringVar(&expires, "expires", "", "how long machines may take it up, such as 90d (default: for ever)")
	return cmd
}

func buildBundle(a *app, dir, sign, out, name string, sequence uint64, until *time.Time) error {
	key, err := policy.PrivateKey(sign)
	if err != nil {
		return fail(exitFailed, "make one with `hookd bundle keygen FILE`", "%w", err)
	}
	content, err := pack.ReadFolder(dir)
	if err != nil {
		return fail(exitFailed, "name a folder of hooks, and nothing else in it", "%w", err)
	}
	name = cmp.Or(name, strings.TrimSuffix(filepath.Base(out), policy.Ending))
	public := key.Public().(ed25519.PublicKey)
	if sequence == 0 {
		if sequence, err = nextSequence(out, content, name, until, key); err != nil {
			return fail(exitFailed, "name another file, or give the number with --sequence", "%s: %w", out, err)
		}
	}
	text, err := policy.Build(content, name, sequence, until, key)
	if err != nil {
		return fail(exitFailed, "correct the folder, or name it with `hookd bundle build DIR`", "%s: %w", dir, err)
	}
	b, err := policy.Read(text, public)
	if err != nil {
		return fail(exitFailed, "correct the folder", "%s: %w", dir, err)
	}
	if err := os.WriteFile(out, text, 0o644); err != nil {
		return fail(exitFailed, "name a file in a folder that you can write to", "%w", err)
	}
	answer := builtOf(out, len(text), b, public)
	return a.print(answer, func(p *printer) {
		printBundle(p, answer)
		p.linef("set it with: hookd policy set %s --key %s.pub", quote(out), quote(sign))
	})
}

// nextSequence is the number after that of the bundle in out. It is the same number where
// the new bundle would be the same.
func nextSequence(
	out string, c pack.Content, name string, until *time.Time, key ed25519.PrivateKey,
) (uint64, error) {
	text, err := readfile.Read(out, policy.MaxBytes)
	if errors.Is(err, fs.ErrNotExist) {
		return 1, nil
	}
	if err != nil {
		return 0, err
	}
	old, err := policy.Read(text, key.Public().(ed25519.PublicKey))
	if err != nil {
		return 0, fmt.Errorf("what is there gives no number to count on: %w", err)
	}
	same, err := policy.Build(c, name, old.Manifest.Sequence, until, key)
	if err == nil && bytes.Equal(same, text) {
		return old.Manifest.Sequence, nil
	}
	return old.Manifest.Sequence + 1, nil
}

func bundleShowCommand(a *app) *cobra.Command {
	var keyFile string
	cmd := &cobra.Command{
		Use:   "show BUNDLE",
		Short: "Show what is in a bundle, and check its signature",
		Long: `show lists the hooks of a bundle. With --key it checks that this key has signed it,
and each of its files; without the key nothing says who made the bundle.`,
		Example: "  hookd bundle show acme.bundle --key acme.pub",
		Args:    one("BUNDLE"),
		RunE: func(_ *cobra.Command, args []string) error {
			text, err := readfile.Read(args[0], policy.MaxBytes)
			if err != nil {
				return fail(exitFailed, "name the file of a bundle", "%w", err)
			}
			var key ed25519.PublicKey
			if keyFile != "" {
				if key, err = policy.PublicKey(keyFile); err != nil {
					return fail(exitFailed, "name the .pub file that `hookd bundle keygen` wrote", "%w", err)
				}
			}
			var b policy.Bundle
			if key != nil {
				b, err = policy.Read(text, key)
			} else {
				b, err = policy.Peek(text)
			}
			if err != nil {
				return fail(exitFailed, "get it from its source again", "%s: %w", args[0], err)
			}
			answer := builtOf(args[0], len(text), b, key)
			return a.print(answer, func(p *printer) { printBundle(p, answer) })
		},
	}
	cmd.Flags().StringVar(&keyFile, "key", "", "public key that must have signed it: its file or its text")
	_ = cmd.MarkFlagFilename("key", "pub")
	return cmd
}

func printBundle(p *printer, b built) {
	signed := "not checked: name the key with --key"
	if b.Key != "" {
		signed = "by the key " + b.Key
	}
	p.pairs(
		kv("bundle", fmt.Sprintf("%s, sequence %d", b.Name, b.Sequence)),
		kv("file", fmt.Sprintf("%s, %s", b.File, sizeText(int64(b.Bytes)))),
		kv("signed", signed),
		kv("expires", dayOf(b.Expires)),
		kv("hooks", fmt.Sprintf("%d, in %s", len(b.Hooks), card.Plural(b.Files, "file"))),
	)
	for _, folder := range b.Hooks {
		p.line("  " + escape(folder, keepNothing))
	}
}

// dayOf is a time for people; "" for none.
func dayOf(t *time.Time) string {
	if t == nil || t.IsZero() {
		return ""
	}
	return t.Local().Format("2006-01-02 15:04:05")
}
