package catalog

import (
	"fmt"
	"path"
	"slices"

	"github.com/hookd/hookd/docs/gallery"
	"github.com/hookd/hookd/internal/base/spell"
	"github.com/hookd/hookd/internal/hooks/pack"
	"github.com/hookd/hookd/wire"
)

// NoHook is the error for a name that none of the hooks in dir has; names are the names of
// the hooks there.
func NoHook(name, dir string, names []string) *wire.Error {
	return &wire.Error{
		Code:    wire.CodeNotFound,
		Message: fmt.Sprintf("no hook %q in %s", name, dir),
		Hint:    Meant(name, names) + "see `hookd list`",
	}
}

// Meant says which hook a name that none of names is may stand for, as the beginning of a
// hint: a hook of a pack, a hook that is spelt alike, or a hook of the gallery that is not there
// yet. "" = none.
func Meant(name string, names []string) string {
	ofPack := func(n string) bool { return n != name && path.Base(n) == name }
	if i := slices.IndexFunc(names, ofPack); i >= 0 {
		return "did you mean " + names[i] + "? "
	}
	if near := spell.Near(name, names); near != "" && near != name {
		return "did you mean " + near + "? "
	}
	inGallery := path.Base(name)
	if !slices.Contains(gallery.Names(), inGallery) {
		inGallery = spell.Near(inGallery, gallery.Names())
	}
	if inGallery == "" {
		return ""
	}
	return fmt.Sprintf("the gallery has one: `hookd add %s/%s`; ", pack.Gallery, inGallery)
}
