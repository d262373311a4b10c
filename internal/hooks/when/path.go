package when

import (
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"unicode"

	"github.com/hookd/hookd/internal/base/pattern"
	"github.com/hookd/hookd/internal/base/rawjson"
	"github.com/hookd/hookd/internal/contract/dialect"
	"github.com/hookd/hookd/internal/contract/dialect/neutral"
)

// fileArguments are, by canonical tool, the arguments that hold the only files which it
// reads or writes. Other tools may touch any.
var fileArguments = map[string][]string{
	"Read":         {"file_path", "file_paths"},
	"Write":        {"file_path", "file_paths"},
	"Edit":         {"file_path", "file_paths"},
	"MultiEdit":    {"file_path", "file_paths"},
	"NotebookEdit": {"notebook_path"},
	"WebSearch":    {},
}

// fitsPath reports whether the call touches a file that one of the patterns matches.
func (f *Facts) fitsPath(patterns []pattern.Fold) bool {
	named, known := f.named()
	if has, unsure := f.hasTool(); !has {
		file := dialect.Facts(f.event).String(neutral.File) // of an event that is about one
		if file == "" {
			return unsure
		}
		named, known = []string{file}, true
	}
	if !known {
		return true
	}
	if f.files == nil {
		f.files = &[]string{}
		for _, name := range named {
			paths, sure := f.absolute(name)
			if !sure {
				f.files = nil
				return true
			}
			*f.files = append(*f.files, paths...)
		}
	}
	return pattern.MatchAny(patterns, *f.files...) || foreign(patterns, *f.files) || f.fitsReal(patterns)
}

// fittedPath says which file of the call one of the patterns matches, or that any may be it.
func (f *Facts) fittedPath(patterns []pattern.Fold) string {
	if f.files == nil {
		return "path in doubt: it may be any file"
	}
	for _, file := range *f.files {
		if pattern.MatchAny(patterns, file) {
			return fmt.Sprintf("path %q", file)
		}
	}
	return "path behind a link"
}

// fitsReal reports whether a pattern matches whose folder is a link to another.
func (f *Facts) fitsReal(patterns []pattern.Fold) bool {
	if len(*f.files) == 0 {
		return false
	}
	for _, p := range patterns {
		folder, rest := literalFolder(p.Glob())
		if folder == "" {
			continue
		}
		real, ok := f.links.Real(folder)
		if !ok {
			return true
		}
		if real == folder {
			continue
		}
		same, err := pattern.CompileFold(pattern.Quote(strings.TrimSuffix(real, "/"))+rest, '/')
		if err != nil || pattern.MatchAny([]pattern.Fold{same}, *f.files...) {
			return true
		}
	}
	return false
}

// literalFolder splits a glob behind the last folder that it names without a wildcard;
// "" = it names none.
func literalFolder(glob string) (folder, rest string) {
	end := strings.IndexAny(glob, `*?[]{}\`)
	if end < 0 {
		end = len(glob)
	}
	slash := strings.LastIndexByte(glob[:end], '/')
	if slash < 1 || glob[0] != '/' {
		return "", ""
	}
	return glob[:slash], glob[slash:]
}

// named returns the files as the call names them; known is false where it may touch
// others.
func (f *Facts) named() (names []string, known bool) {
	call := f.callOf()
	arguments, known := fileArguments[call.Tool]
	if !known || call.Guessed || call.Code != "" {
		return nil, false
	}
	for _, name := range arguments {
		names = append(names, textsOf(rawjson.Get(call.Input, name))...)
	}
	return names, len(arguments) == 0 || len(names) > 0
}

// textsOf are the texts of a value: a text may name a file in each of its lines.
func textsOf(v []byte) (texts []string) {
	for _, text := range textsIn(v, nil) {
		if strings.TrimSpace(text) == "" {
			continue
		}
		texts = append(texts, text)
		if lines := strings.Split(text, "\n"); len(lines) > 1 {
			texts = append(texts, lines...)
		}
	}
	return texts
}

// mostTexts bounds how many texts of an argument are looked at.
const mostTexts = 100

// textsIn appends all texts of a value.
func textsIn(v json.RawMessage, to []string) []string {
	if len(v) == 0 || len(to) > mostTexts {
		return to
	}
	switch v[0] {
	case '"':
		if text, ok := rawjson.Text(v); ok {
			to = append(to, text)
		}
	case '{':
		for _, value := range rawjson.Members(v) {
			to = textsIn(value, to)
		}
	case '[':
		var elements []json.RawMessage
		_ = json.Unmarshal(v, &elements) // what is no list has no elements
		var words []string
		for _, element := range elements {
			before := len(to)
			if to = textsIn(element, to); len(to) == before+1 {
				words = append(words, to[before])
			}
		}
		to = append(to, strings.Join(words, " ")) // they may be the words of one command
	}
	return to
}

// absolute returns the paths that a name may stand for, the likeliest first; sure is
// false where that is not known.
func (f *Facts) absolute(name string) (paths []string, sure bool) {
	names := []string{name, strings.TrimSpace(name)}
	if rest, ok := strings.CutPrefix(name, "file://"); ok {
		names = append(names, rest)
		if decoded, err := url.PathUnescape(rest); err == nil {
			names = append(names, decoded)
		}
	}
	home, _ := os.UserHomeDir() // without one, a tool knows none either
	for _, name := range names {
		if strings.ContainsRune(name, 0) || strings.Contains(name, "$") {
			return nil, false
		}
		if rest, ok := strings.CutPrefix(name, "~"); ok && home != "" && (rest == "" || rest[0] == '/') {
			names = append(names, home+rest)
		}
	}
	for i, name := range names {
		if i > 0 && name == names[0] {
			continue
		}
		if !filepath.IsAbs(name) {
			if f.event.Cwd == "" {
				return nil, false
			}
			name = f.event.Cwd + "/" + name
		}
		paths = append(paths, filepath.Clean(name))
		if f.links == nil {
			return nil, false
		}
		real, ok := f.links.Real(name)
		if !ok {
			return nil, false
		}
		if real != filepath.Clean(name) {
			paths = append(paths, real)
		}
		if visible := strings.Map(dropFormat, name); visible != name {
			paths = append(paths, filepath.Clean(visible))
		}
	}
	return paths, true
}

// dropFormat drops the characters that nothing shows, which some file systems ignore.
func dropFormat(r rune) rune {
	if unicode.Is(unicode.Cf, r) {
		return -1
	}
	return r
}

// foreign reports whether a pattern and a path both have letters beyond ASCII: there are
// several ways to write those, which a file system may take for one.
func foreign(patterns []pattern.Fold, paths []string) bool {
	beyond := func(s string) bool { return strings.ContainsFunc(s, func(r rune) bool { return r > unicode.MaxASCII }) }
	for _, p := range patterns {
		for _, path := range paths {
			if beyond(p.Text) && beyond(path) {
				return true
			}
		}
	}
	return false
}
