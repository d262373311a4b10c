package rawjson

// plainLength is endOfPlainPortable of p from its start on, which has at least 16 bytes. It looks
// at sixteen bytes at a time with SSE2, which every amd64 processor has.
//
//go:noescape
func plainLength(p []byte) int
