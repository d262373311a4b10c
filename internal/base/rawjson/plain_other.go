//go:build !amd64

package rawjson

func plainLength(p []byte) int { return endOfPlainPortable(p, 0) }
