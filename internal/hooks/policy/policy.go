// Package policy has signed bundles of hooks: it makes them, and keeps one in force in a
// home, from a URL, a file or a folder.
//
// It promises: nothing of a bundle is written before its signature, by the key that was
// set, and the hash of each file have been checked. A bundle is put in force as a whole or
// not at all. A bundle older than the home ever had from that key is refused, also after
// Unset. A source that fails in any way (another key, cut off, expired, hanging, endless,
// moved to another host) leaves the last good bundle in force, for as long as it takes;
// State says why. The files on disk are compared with the signed manifest at each scan; a
// file that differs is a refusal.
//
// For a fleet it has directives: signed statements of which bundle machines are to have, at
// which stage, and which hooks are switched off. The same holds for them: the key decides,
// the newest counts, and an older one is refused. Only a directive brings back a bundle
// that is older than the one in force.
//
// Update blocks on the network and on files, each within a bound; a verdict never waits
// for it. Nothing of a bundle is executed here, and no hook is read.
package policy

import (
	"bytes"
	"cmp"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/hookd/hookd/internal/hooks/pack"
)

// magic is the first line of a bundle. It is signed, too, so that the signature fits
// nothing else.
const magic = "hookd-bundle-1\n"

// The limits of a bundle, in bytes: for its manifest, and for all of the bundle.
const (
	maxManifest = 4 << 20
	MaxBytes    = pack.MaxBytes + maxManifest + 4096
)

// Ending is how the file of a bundle ends, where a folder has several.
const Ending = ".bundle"

// Manifest is the signed part of a bundle. It describes all bytes behind it.
type Manifest struct {
	Name     string         `json:"name"`
	Sequence uint64         `json:"sequence"`          // a newer bundle has a greater one
	Expires  *time.Time     `json:"expires,omitempty"` // it is not put in force later than this; nil = it may be
	Files    []ManifestFile `json:"files"`             // in byte order of their paths
}

// ManifestFile is one file of a bundle.
type ManifestFile struct {
	Path   string `json:"path"` // with slashes
	Size   int    `json:"size"`
	SHA256 string `json:"sha256"`
	Exec   bool   `json:"exec,omitempty"`
}

// Bundle is a bundle whose signature and hashes were checked.
type Bundle struct {
	Manifest Manifest
	Head     Head
	Content  pack.Content
}

// Head is a manifest as it was signed.
type Head struct {
	Text      []byte `json:"text"`
	Signature []byte `json:"signature"`
}

// Digest is the sha256 of the manifest, in hexadecimal: the same for the same content.
func (h Head) Digest() string {
	sum := sha256.Sum256(h.Text)
	return hex.EncodeToString(sum[:])
}

// Build makes the bytes of a bundle: the same ones for the same arguments. Links are
// refused, since a bundle holds files alone.
func Build(c pack.Content, name string, sequence uint64, expires *time.Time, key ed25519.PrivateKey) ([]byte, error) {
	if err := pack.CheckName(name); err != nil {
		return nil, fmt.Errorf("name of the bundle: %w", err)
	}
	if sequence == 0 {
		return nil, errors.New("the sequence of a bundle is 1 or more")
	}
	c, _, err := c.Check()
	if err != nil {
		return nil, err
	}
	if err := c.NeedHooks("folder"); err != nil {
		return nil, err
	}
	m := Manifest{Name: name, Sequence: sequence, Expires: expires}
	var data [][]byte
	for _, f := range c {
		if f.Link != "" {
			return nil, fmt.Errorf("%s is a link: a bundle holds files only", f.Path)
		}
		m.Files = append(m.Files, ManifestFile{f.Path, len(f.Data), f.Sum(), f.Exec})
		data = append(data, f.Data)
	}
	text, err := json.Marshal(m)
	if err != nil {
		return nil, err
	}
	if len(text) > maxManifest {
		return nil, fmt.Errorf("the list of its files is longer than %d MiB", maxManifest>>20)
	}
	signature := base64.StdEncoding.EncodeToString(ed25519.Sign(key, signed(text)))
	return slices.Concat([]byte(magic), text, []byte("\n"+signature+"\n"), bytes.Join(data, nil)), nil
}

// signed is the text that a signature signs.
func signed(manifest []byte) []byte { return append([]byte(magic), manifest...) }

// Read checks the bytes of a bundle: signature first, then each file.
func Read(text []byte, key ed25519.PublicKey) (b Bundle, err error) {
	head, rest, err := split(text)
	if err != nil {
		return b, err
	}
	if !head.isSigned(key) {
		return b, ErrKey
	}
	m, err := head.parse()
	if err != nil {
		return b, err
	}
	exact := make(chan error, 1)
	go func() { exact <- head.isExactly(m) }() // which takes as long as all files
	b, err = readFiles(m, rest)
	b.Head = head
	if err := cmp.Or(<-exact, err); err != nil {
		return Bundle{}, err
	}
	return b, nil
}

// readFiles makes a bundle of its manifest and the bytes behind it, which must be the files
// that it names.
func readFiles(m Manifest, rest []byte) (b Bundle, err error) {
	b = Bundle{Manifest: m, Content: make(pack.Content, 0, len(m.Files))}
	for _, f := range m.Files {
		if f.Size < 0 || f.Size > len(rest) {
			return Bundle{}, fmt.Errorf("it is cut off in %s", f.Path)
		}
		file := pack.File{Path: f.Path, Exec: f.Exec, Data: rest[:f.Size:f.Size]}
		if file.Sum() != f.SHA256 {
			return Bundle{}, fmt.Errorf("%s is not what was signed", f.Path)
		}
		b.Content, rest = append(b.Content, file), rest[f.Size:]
	}
	if len(rest) > 0 {
		return Bundle{}, fmt.Errorf("there are %d bytes behind its last file", len(rest))
	}
	if b.Content, _, err = b.Content.Check(); err == nil {
		err = b.Content.NeedHooks("bundle")
	}
	if err != nil {
		return Bundle{}, err
	}
	return b, nil
}

// split takes the lines before the files off.
func split(text []byte) (h Head, rest []byte, err error) {
	text, ok := bytes.CutPrefix(text, []byte(magic))
	if !ok {
		return h, nil, errors.New("it is no bundle of hookd")
	}
	line, rest, ok := bytes.Cut(text, []byte("\n"))
	signature, rest, ok2 := bytes.Cut(rest, []byte("\n"))
	if !ok || !ok2 || len(line) > maxManifest {
		return h, nil, errors.New("it is cut off before its signature")
	}
	h = Head{Text: bytes.Clone(line)} // it outlives the files
	if h.Signature, err = base64.StdEncoding.DecodeString(string(signature)); err != nil {
		return h, nil, errors.New("its signature cannot be read")
	}
	return h, rest, nil
}

// ErrKey is the error of a text that another key signed, or that was changed since.
var ErrKey = errors.New("its signature is not of the key that was set")

// Verify returns the manifest if key signed it.
func (h Head) Verify(key ed25519.PublicKey) (m Manifest, err error) {
	if !h.isSigned(key) {
		return m, ErrKey
	}
	return h.manifest()
}

func (h Head) isSigned(key ed25519.PublicKey) bool {
	return len(key) == ed25519.PublicKeySize && ed25519.Verify(key, signed(h.Text), h.Signature)
}

// manifest reads the text, which must be as Build writes it.
func (h Head) manifest() (m Manifest, err error) {
	if m, err = h.parse(); err != nil {
		return m, err
	}
	if err := h.isExactly(m); err != nil {
		return Manifest{}, err
	}
	return m, nil
}

// parse reads the text as far as this hookd knows its members.
func (h Head) parse() (m Manifest, err error) {
	if err := json.Unmarshal(h.Text, &m); err != nil {
		return Manifest{}, fmt.Errorf("its manifest: %w", err)
	}
	return m, nil
}

// isExactly is an error where the text says more than m, or lacks a part that each bundle must have.
func (h Head) isExactly(m Manifest) error {
	if again, err := json.Marshal(m); err != nil || !bytes.Equal(again, h.Text) {
		return errors.New("its manifest says more than this hookd knows: update hookd")
	}
	if err := pack.CheckName(m.Name); err != nil || m.Sequence == 0 {
		return errors.New("its manifest has no name or sequence")
	}
	return nil
}

// Expired reports whether the bundle may not be put in force any more.
func (m Manifest) Expired(now time.Time) bool { return m.Expires != nil && now.After(*m.Expires) }

// HookFolders are the folders of the bundle that are hooks.
func (m Manifest) HookFolders() []string { return m.names().HookFolders() }

// names has the files without their bytes.
func (m Manifest) names() (c pack.Content) {
	for _, f := range m.Files {
		c = append(c, pack.File{Path: f.Path})
	}
	return c
}

// FilesOf returns the files of a hook, by its folder: the files in the folder, and the files that
// all hooks share.
func (m Manifest) FilesOf() func(folder string) []ManifestFile {
	parts := m.names().Parts()
	return func(folder string) (list []ManifestFile) {
		for _, i := range parts.Of(folder) {
			list = append(list, m.Files[i])
		}
		return list
	}
}

// Peek reads a bundle of which no key is known: nothing says who made it, or that it is
// whole.
func Peek(text []byte) (Bundle, error) {
	head, _, err := split(text)
	if err != nil {
		return Bundle{}, err
	}
	m, err := head.manifest()
	return Bundle{Manifest: m, Head: head}, err
}
