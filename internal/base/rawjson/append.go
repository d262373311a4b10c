package rawjson

import (
	"bytes"
	"strconv"
	"sync/atomic"
	"time"
)

// Records are written by hand where each event costs one: encoding/json takes ten times
// as long. Tests hold the written bytes to the bytes that it would write.

// AppendKey appends the name of a member and its colon, after a comma unless
// the object at the end of dst has just begun.
func AppendKey(dst []byte, name string) []byte {
	if n := len(dst); n > 0 && dst[n-1] != '{' {
		dst = append(dst, ',')
	}
	dst = append(dst, '"')
	dst = append(dst, name...)
	return append(dst, '"', ':')
}

// AppendText appends a member, unless value is empty.
func AppendText(dst []byte, name, value string) []byte {
	if value == "" {
		return dst
	}
	return AppendString(AppendKey(dst, name), value)
}

// AppendInt appends a member, unless value is 0.
func AppendInt(dst []byte, name string, value int64) []byte {
	if value == 0 {
		return dst
	}
	return strconv.AppendInt(AppendKey(dst, name), value, 10)
}

// AppendTrue appends a member, unless value is false.
func AppendTrue(dst []byte, name string, value bool) []byte {
	if !value {
		return dst
	}
	return append(AppendKey(dst, name), "true"...)
}

// AppendTime appends t in UTC, as time.RFC3339Nano has it.
func AppendTime(dst []byte, t time.Time) []byte {
	dst = append(dst, textOf(t)...)
	if rest := t.Nanosecond(); rest > 0 {
		fraction := [10]byte{'.'}
		for i := 9; i > 0; i-- {
			fraction[i] = byte('0' + rest%10)
			rest /= 10
		}
		dst = append(dst, bytes.TrimRight(fraction[:], "0")...)
	}
	return append(dst, 'Z')
}

// second is one second as text. Most records are of the same second as the record
// before.
type second struct {
	unix int64
	text string
}

var lastSecond atomic.Pointer[second]

// textOf returns t without its fraction and zone.
func textOf(t time.Time) string {
	s := lastSecond.Load()
	if unix := t.Unix(); s == nil || s.unix != unix {
		s = &second{unix, t.UTC().Format("2006-01-02T15:04:05")}
		lastSecond.Store(s)
	}
	return s.text
}
