package forward

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"

	"github.com/hookd/hookd/internal/base/rawjson"
)

// file appends each batch to a file, one line of JSON a decision. It opens the file for
// each batch, so a file that was moved away by a program that rotates logs is made again.
type file struct{ path string }

func (f *file) send(_ context.Context, b batch) (thrown int64, err error) {
	out, err := os.OpenFile(f.path, os.O_RDWR|os.O_CREATE|os.O_APPEND|syscall.O_NONBLOCK|syscall.O_NOFOLLOW, 0o600)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	info, err := out.Stat()
	if err != nil {
		return 0, err
	}
	if !info.Mode().IsRegular() {
		return 0, fmt.Errorf("%s is no regular file", f.path)
	}
	end, err := endLine(out, info.Size())
	if err != nil {
		return 0, err
	}
	if _, err := out.Write(append(end, b.lines()...)); err != nil {
		return 0, err
	}
	return 0, out.Sync()
}

// endLine ends a line that an attempt which was cut off has begun.
func endLine(f *os.File, size int64) ([]byte, error) {
	last := []byte{'\n'}
	if size > 0 {
		if _, err := f.ReadAt(last, size-1); err != nil {
			return nil, err
		}
	}
	if last[0] == '\n' {
		return nil, nil
	}
	return []byte{'\n'}, nil
}

// lines encodes the batch as lines that begin with {"type":"verdict","host":…,"seq":…,
// those of the stream with the host. Before them is {"type":"missed","host":…,"count":3}
// where decisions were missed, behind them {"type":"audit_head","host":…,"head":"12:…"}.
func (b batch) lines() []byte {
	dst := make([]byte, 0, 512*(1+len(b.decisions)))
	if b.missed > 0 {
		dst = append(rawjson.AppendInt(b.line(dst, "missed"), "count", b.missed), "}\n"...)
	}
	for i := range b.decisions {
		dst = append(appendDecision(b.line(dst, "verdict"), &b.decisions[i]), '\n')
	}
	if b.head.N > 0 {
		dst = rawjson.AppendString(rawjson.AppendKey(b.line(dst, "audit_head"), "head"), b.head.String())
		dst = append(dst, "}\n"...)
	}
	return dst
}

// line begins a line of a type.
func (b batch) line(dst []byte, kind string) []byte {
	dst = rawjson.AppendString(rawjson.AppendKey(append(dst, '{'), "type"), kind)
	return rawjson.AppendString(rawjson.AppendKey(dst, "host"), b.from.host)
}
