package hookdir

import "sync"

// once has the findings that the folders of one scan share, so that each is found out once: a
// thousand hooks have a few interpreters and matchers.
type once struct {
	programs sync.Map // path outside of a hook's folder to program
	files    sync.Map // path of an interpreter to whether it is a file
	inPath   sync.Map // name of an interpreter to whether it is in PATH
	matchers sync.Map // text to matcher
	tools    sync.Map // text of an event's pattern to []AgentTools
}

// found returns the result of find for a key, and calls find where the result is not known. Two
// callers at the same time may both call it.
func found[T any](in *sync.Map, key string, find func() T) T {
	if v, known := in.Load(key); known {
		return v.(T)
	}
	v := find()
	in.Store(key, v)
	return v
}
