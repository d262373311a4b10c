package pack

import (
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
)

// Source is where a pack comes from, as it was typed.
type Source struct {
	Kind     SourceKind
	Location string // name in the gallery, absolute folder, or URL
	Revision string // asked for: tag, branch, commit; "" = the remote's HEAD
	Path     string // folder in it that is the pack; "" = all
	Track    bool   // Revision is a branch that updates follow
}

// SourceKind is the kind of place that a source is.
type SourceKind string

const (
	FromGallery SourceKind = "gallery"
	FromFolder  SourceKind = "folder"
	FromGit     SourceKind = "git"
)

// Parse reads SOURCE[@REV] as a person types it. A folder must be there; home is
// the meaning of ~/.
func Parse(text, home string) (Source, error) {
	if name, ok := strings.CutPrefix(text, Gallery+"/"); ok {
		if err := CheckName(name); err != nil {
			return Source{}, err
		}
		return Source{Kind: FromGallery, Location: name}, nil
	}
	if remote, revision, ok := splitURL(text); ok {
		return Source{Kind: FromGit, Location: remote, Revision: revision}, checkURL(remote)
	}
	folder := text
	if rest, ok := strings.CutPrefix(text, "~/"); ok {
		folder = filepath.Join(home, rest)
	}
	folder, err := filepath.Abs(folder)
	if err != nil {
		return Source{}, err
	}
	if info, err := os.Stat(folder); err != nil || !info.IsDir() {
		if at := strings.LastIndexByte(text, '@'); at > 0 && isDir(strings.TrimSuffix(folder, text[at:])) {
			return Source{}, fmt.Errorf("a folder has no revisions: its repository has them: file://%s", folder)
		}
		return Source{}, fmt.Errorf(
			"%s is no folder, no gallery/NAME and no URL such as https://example.org/team/hooks.git@v1", text)
	}
	return Source{Kind: FromFolder, Location: folder}, nil
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// splitURL takes URL@REV apart: the revision stands after the last @ of the
// path. ok is false for a text that is no URL; USER@HOST:PATH is one.
func splitURL(text string) (remote, revision string, ok bool) {
	begin := 0 // of the path
	if scheme := strings.Index(text, "://"); scheme > 0 {
		if begin = strings.IndexByte(text[scheme+3:], '/'); begin < 0 {
			return text, "", true
		}
		begin += scheme + 3
	} else {
		colon := strings.IndexByte(text, ':')
		if colon <= 0 || strings.ContainsRune(text[:colon], '/') || strings.HasPrefix(text, ".") {
			return "", "", false
		}
		begin = colon
	}
	if at := strings.LastIndexByte(text[begin:], '@'); at >= 0 {
		return text[:begin+at], text[begin+at+1:], true
	}
	return text, "", true
}

func checkURL(remote string) error {
	scheme, _, ok := strings.Cut(remote, "://")
	if !ok {
		scheme = "ssh"
	}
	switch scheme {
	case "https", "ssh", "http", "git", "file":
	default:
		return fmt.Errorf("%s:// is not fetched from: https, ssh, http, git and file are", scheme)
	}
	if ok {
		u, err := url.Parse(remote)
		if err != nil || u.Host == "" && scheme != "file" || strings.HasPrefix(u.Host, "-") {
			return fmt.Errorf("%q is no URL of a repository", remote)
		}
	}
	if strings.HasPrefix(remote, "-") || strings.Contains(remote, "::") {
		return errors.New("a URL does not begin with - and names no program to fetch with")
	}
	return nil
}

// Secure reports whether the source cannot be another's on the way.
func (s Source) Secure() bool {
	return !strings.HasPrefix(s.Location, "http://") && !strings.HasPrefix(s.Location, "git://")
}

// String is the source as a person would type it.
func (s Source) String() string {
	switch {
	case s.Kind == FromGallery:
		return Gallery + "/" + s.Location
	case s.Revision != "":
		return s.Location + "@" + s.Revision
	}
	return s.Location
}

// Name is the name that the pack has without --name: gallery for a pack from
// there, else the last part of the folder's or repository's name.
func (s Source) Name() string {
	if s.Kind == FromGallery {
		return Gallery
	}
	last := strings.TrimRight(s.Location, "/")
	last = strings.TrimSuffix(last[strings.LastIndexAny(last, "/:")+1:], ".git")
	return strings.TrimLeft(last, ".-_")
}
