package server

import (
	"fmt"
	"net/url"
	"strconv"

	"github.com/hookd/hookd/wire"
)

// boolParam reads ?key, ?key=1, ?key=0; nil when it is absent.
func boolParam(values url.Values, key string) (*bool, *wire.Error) {
	if !values.Has(key) {
		return nil, nil
	}
	text := values.Get(key)
	if text == "" {
		text = "1"
	}
	b, err := strconv.ParseBool(text)
	if err != nil {
		return nil, &wire.Error{
			Code:    wire.CodeBadRequest,
			Message: fmt.Sprintf("parameter %s is %q", key, text),
			Hint:    "give 1 or 0", Field: key,
		}
	}
	return &b, nil
}

// numberParam reads a number from 1 to most; "" is 0.
func numberParam(text, name string, most int64) (int64, *wire.Error) {
	if text == "" {
		return 0, nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 1 || n > most {
		return 0, &wire.Error{
			Code:    wire.CodeBadRequest,
			Message: fmt.Sprintf("%s is %q", name, text),
			Hint:    fmt.Sprintf("give a number from 1 to %d", most), Field: name,
		}
	}
	return n, nil
}
