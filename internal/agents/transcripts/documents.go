package transcripts

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
)

// maxDocument bounds a file that is one JSON document.
const maxDocument = 256 << 20

// documents gives each element of the list that an object has under key. A document that ends too
// early gives the elements before its end.
func documents(ctx context.Context, f *File, c *collector, key string, each func(json.RawMessage)) error {
	if f.Size > maxDocument {
		c.skipped++
		return nil
	}
	file, err := f.open()
	if err != nil {
		return err
	}
	defer file.Close()
	d := json.NewDecoder(io.LimitReader(file, maxDocument))
	if !enter(d, '{') {
		c.skipped++
		return nil
	}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			c.skipped++
			return nil
		}
		if name != key || !enter(d, '[') {
			if !skipValue(d, name == key) {
				c.skipped++
				return nil
			}
			continue
		}
		for d.More() {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			var element json.RawMessage
			if err := d.Decode(&element); err != nil {
				c.skipped++
				return nil
			}
			if len(element) > maxLine {
				c.skipped++
				continue
			}
			each(element)
		}
		return nil
	}
	return nil
}

// enter reads an opening bracket.
func enter(d *json.Decoder, bracket json.Delim) bool {
	t, err := d.Token()
	return err == nil && t == bracket
}

// skipValue reads over a value; when the value was begun, it gives up.
func skipValue(d *json.Decoder, begun bool) bool {
	if begun {
		return false
	}
	var v json.RawMessage
	return d.Decode(&v) == nil
}

// document reads a small JSON file beside a transcript into v. A file that is not there tells nothing.
func document(path string, v any) error {
	file, err := (&File{Path: path}).open()
	if errors.Is(err, os.ErrNotExist) {
		return nil
	} else if err != nil {
		return err
	}
	defer file.Close()
	return json.NewDecoder(io.LimitReader(file, 1<<20)).Decode(v)
}
