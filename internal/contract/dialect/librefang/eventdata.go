package librefang

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"

	"github.com/hookd/hookd/internal/base/rawjson"
)

const (
	truncatedKey = "_truncated"
	// nothingLeft says that the payload itself could not be kept.
	nothingLeft = `{"_truncated":["."]}`
)

// EventData returns the text of HOOK_EVENT_DATA for payload, a JSON object.
// Up to and including limit bytes it is payload itself. Beyond that the
// longest strings, at any depth, are shortened to a common length, and
// "_truncated" lists their paths; every top-level key stays. Where that is not
// enough, or payload is not valid JSON, it is {"_truncated":["."]}. The value
// never exceeds limit, which must be at least 20; truncated reports whether it
// is less than the payload.
//
// A path is spelled as in jq without the leading dot: tool_input.content,
// items[3].text. A key with other characters than letters, digits, _ and -
// stands in brackets as it stands in the payload: env["odd key"].
func EventData(payload json.RawMessage, limit int) (value string, truncated bool) {
	if len(payload) <= limit {
		return string(payload), false
	}
	if !json.Valid(payload) || bytes.TrimLeft(payload, " \t\r\n")[0] != '{' {
		return nothingLeft, true
	}
	strings, fixed := measure(payload)
	chosen, level := choose(strings, fixed, limit)
	if len(chosen) == 0 {
		return nothingLeft, true
	}
	return string(shorten(payload, chosen, level)), true
}

// jsonString is one string of the payload that may be worth shortening.
type jsonString struct {
	start, size int32 // of its text between the quotes, still escaped
	path        int32 // length of its path in the list
}

// cost is the number of bytes that listing the string takes: its path, quotes and a
// comma.
func (s jsonString) cost() int { return int(s.path) + len(`"",`) }

// measure finds the strings whose shortening can save more than their path costs, in
// the order of the payload, and the size of all the rest. A value that the payload has
// under our own key counts although the list will replace it.
func measure(payload []byte) (strings []jsonString, fixed int) {
	fixed = len(payload) + len(`,"_truncated":[]`) - len(",") // each path counts a comma, the first has none
	walk(payload, func(path []byte, start, end int) {
		s := jsonString{int32(start), int32(end - start), int32(len(path))}
		if int(s.size) > s.cost() {
			strings = append(strings, s)
			fixed -= int(s.size)
		}
	})
	return strings, fixed
}

// choose returns which strings to shorten, and to how many bytes, so that the result
// fits: the longest ones, to a level that is not below the longest string left alone.
// Where paths cost so much that no level is, it takes the highest level that fits; none
// is chosen where nothing fits.
func choose(strings []jsonString, fixed, limit int) (chosen []jsonString, level int) {
	slices.SortFunc(strings, func(a, b jsonString) int {
		return cmp.Or(cmp.Compare(b.size, a.size), cmp.Compare(a.start, b.start))
	})
	left := limit - fixed // for the strings and their paths
	for _, s := range strings {
		left -= int(s.size)
	}
	count, level := 0, -1
	for i, s := range strings {
		left += int(s.size) - s.cost()
		if l := left / (i + 1); left >= 0 && l > level {
			count, level = i+1, l
		}
		if i+1 < len(strings) && level >= int(strings[i+1].size) {
			break
		}
	}
	chosen = strings[:count]
	slices.SortFunc(chosen, func(a, b jsonString) int { return cmp.Compare(a.start, b.start) })
	return chosen, level
}

// shorten cuts the chosen strings, which stand in the payload's order, to at
// most level bytes and lists their paths.
func shorten(payload []byte, chosen []jsonString, level int) json.RawMessage {
	out, copied := make([]byte, 0, EventDataLimit), 0
	list := []byte{'['}
	walk(payload, func(path []byte, start, end int) {
		if len(chosen) == 0 || int(chosen[0].start) != start {
			return
		}
		chosen = chosen[1:]
		out = append(out, payload[copied:start+cut(payload[start:end], level)]...)
		copied = end
		if len(list) > 1 {
			list = append(list, ',')
		}
		list = append(append(append(list, '"'), path...), '"')
	})
	out = append(out, payload[copied:]...)
	return rawjson.With(out, rawjson.Member{Key: truncatedKey, Value: append(list, ']')})
}
