package transcripts

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
	"time"
)

// open opens a transcript to read it, if it is still the regular file that was found.
func (f *File) open() (*os.File, error) {
	file, err := os.OpenFile(f.Path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	if info, err := file.Stat(); err != nil || !info.Mode().IsRegular() || !mine(info) {
		file.Close()
		return nil, fmt.Errorf("read %s: it is no regular file of this user", f.Path)
	}
	return file, nil
}

// lines gives each line of a file that has one of the texts, without the end of line. A line that
// is too long is skipped and counted, and so is a last line without its end that is no JSON.
func lines(ctx context.Context, f *File, c *collector, each func(line []byte), texts ...string) error {
	file, err := f.open()
	if err != nil {
		return err
	}
	defer file.Close()
	wanted := make([][]byte, len(texts))
	for i, text := range texts {
		wanted[i] = []byte(text)
	}
	r := bufio.NewReaderSize(file, 1<<20)
	var long []byte // the beginning of a line that is longer than the reader's buffer
	for n := 0; ; n++ {
		if n%64 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		line, err := r.ReadSlice('\n')
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			if len(long)+len(line) > maxLine {
				c.skipped++
				if err := skipLine(ctx, r); err != nil {
					return ignoreEOF(err)
				}
				long = long[:0]
				continue
			}
			long = append(long, line...)
			continue
		case err != nil && err != io.EOF:
			return err
		}
		if len(long) > 0 {
			long = append(long, line...)
			line = long
		}
		ended := bytes.HasSuffix(line, []byte("\n"))
		line = bytes.TrimRight(line, "\r\n")
		if has(line, wanted) {
			if ended || json.Valid(line) {
				each(line)
			} else {
				c.skipped++
			}
		}
		if cap(long) > 1<<20 {
			long = nil
		}
		long = long[:0]
		if err == io.EOF {
			return nil
		}
	}
}

// skipLine reads on to the end of a line.
func skipLine(ctx context.Context, r *bufio.Reader) error {
	for {
		_, err := r.ReadSlice('\n')
		if !errors.Is(err, bufio.ErrBufferFull) {
			return err
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
}

func ignoreEOF(err error) error {
	if err == io.EOF {
		return nil
	}
	return err
}

func has(line []byte, texts [][]byte) bool {
	for _, text := range texts {
		if bytes.Contains(line, text) {
			return true
		}
	}
	return len(texts) == 0
}

// timeOf reads a time as agents write it; zero = it is none.
func timeOf(text string) time.Time {
	t, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		return time.Time{}
	}
	return t
}

// millis is a time in milliseconds since 1970; zero for 0.
func millis(n int64) time.Time {
	if n <= 0 {
		return time.Time{}
	}
	return time.UnixMilli(n)
}
