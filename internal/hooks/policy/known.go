package policy

import (
	"bytes"
	"slices"
	"sync"
)

// maxKnown is how many texts are known at most: as it was and as it is.
const maxKnown = 2

// known are the texts of a home's policy.json that were read or written last, and their
// contents: the check of a bundle of a thousand hooks takes 7 ms. Each scan and each look at
// the status needs the contents.
type known struct {
	mu   sync.Mutex
	list []knownText // the newest first
}

type knownText struct {
	text []byte
	says Current
}

// recall returns the content of a text of policy.json, where that is known. The content is
// shared: nothing in the content may be changed.
func (k *known) recall(text []byte) (c Current, found bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	i := slices.IndexFunc(k.list, func(one knownText) bool { return bytes.Equal(one.text, text) })
	if i < 0 {
		return c, false
	}
	return k.list[i].says, true
}

// remember has recall know a text whose signatures were checked.
func (k *known) remember(text []byte, c Current) {
	k.mu.Lock()
	defer k.mu.Unlock()
	rest := slices.DeleteFunc(k.list, func(one knownText) bool { return bytes.Equal(one.text, text) })
	k.list = slices.Insert(rest[:min(len(rest), maxKnown-1)], 0, knownText{text, c})
}
