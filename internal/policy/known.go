package policy

import (
	"bytes"
	"slices"
	"sync"
)

// maxKnown is how many texts are known at most: of one home, as it was and as it is.
const maxKnown = 2

// known are the texts of policy.json that were read or written last, and what they say. The
// same text in the same folder says the same: of a bundle of a thousand hooks it takes 7 ms
// to check, and each scan and each look at the status needs it.
var known struct {
	sync.Mutex
	list []knownText // the newest first
}

type knownText struct {
	dir  string // of the home
	text []byte
	says Current
}

// recall returns what a text of policy.json says, where that is known. What it returns is
// shared: nothing in it may be changed.
func (h Home) recall(text []byte) (c Current, found bool) {
	known.Lock()
	defer known.Unlock()
	i := slices.IndexFunc(known.list, func(k knownText) bool { return k.dir == h.dir && bytes.Equal(k.text, text) })
	if i < 0 {
		return c, false
	}
	return known.list[i].says, true
}

// remember has recall know a text whose signatures were checked.
func (h Home) remember(text []byte, c Current) {
	known.Lock()
	defer known.Unlock()
	same := func(k knownText) bool { return k.dir == h.dir && bytes.Equal(k.text, text) }
	rest := slices.DeleteFunc(known.list, same)
	known.list = slices.Insert(rest[:min(len(rest), maxKnown-1)], 0, knownText{h.dir, text, c})
}
