package neutral

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/hookd/hookd/internal/base/rawjson"
)

// slots are the members of a tool's result that hold the text the model sees, in
// groups: the first group counts that has a member in the object.
var slots = [][]string{{"stdout", "stderr"}, {"llmContent"}, {"textResultForLlm"}, {"content"}, {"file"}, {"output"}, {"text"}}

// ResultText returns the text of a tool's result as the model sees it: that of
// a string, of a list of content blocks, of a shell's stdout and stderr. Of a
// shape that is none of these it is the compact JSON.
func ResultText(result json.RawMessage) string {
	if texts, ok := slotTexts(result); ok {
		return strings.Join(texts, "\n")
	}
	return compact(result)
}

// WithResultText returns result with text in the place of ResultText's: the
// same shape, the first slot holds it and the others are empty. Where the
// shape has no slots, text that is JSON of the same type replaces the result,
// any other text too, as a string.
func WithResultText(result json.RawMessage, text string) json.RawMessage {
	if _, ok := slotTexts(result); ok {
		left := &text
		return fill(result, &left)
	}
	if v := bytes.TrimSpace([]byte(text)); json.Valid(v) && len(result) > 0 && v[0] == result[0] {
		return v
	}
	return rawjson.Quote(text)
}

// slotTexts returns the texts of the slots that are not empty; ok tells
// whether there are slots.
func slotTexts(v json.RawMessage) (texts []string, ok bool) {
	switch kind(v) {
	case '"':
		if s := TextOf(v); s != "" {
			texts = append(texts, s)
		}
		return texts, true
	case '[':
		return blockTexts(v)
	case '{':
		for _, key := range group(v) {
			inner, has := slotTexts(rawjson.Get(v, key))
			texts, ok = append(texts, inner...), ok || has
		}
	}
	return texts, ok
}

// blockTexts takes a list only if every element has a slot.
func blockTexts(v json.RawMessage) (texts []string, ok bool) {
	var blocks []json.RawMessage
	if json.Unmarshal(v, &blocks) != nil || len(blocks) == 0 {
		return nil, false
	}
	for _, b := range blocks {
		inner, has := slotTexts(b)
		if !has {
			return nil, false
		}
		texts = append(texts, inner...)
	}
	return texts, true
}

// group returns the slots that an object has. One with the same content in a
// second form has none: both must be replaced.
func group(v json.RawMessage) []string {
	if rawjson.Get(v, "structuredContent") != nil {
		return nil
	}
	for _, keys := range slots {
		var has []string
		for _, key := range keys {
			if k := kind(rawjson.Get(v, key)); k == '"' || k == '[' || k == '{' {
				has = append(has, key)
			}
		}
		if has != nil {
			return has
		}
	}
	return nil
}

// fill puts *left into the first slot of v and nothing into the others.
func fill(v json.RawMessage, left **string) json.RawMessage {
	switch kind(v) {
	case '"':
		text := ""
		if *left != nil {
			text, *left = **left, nil
		}
		return rawjson.Quote(text)
	case '[':
		var blocks []json.RawMessage
		_ = json.Unmarshal(v, &blocks) // slotTexts has read it
		for i, b := range blocks {
			blocks[i] = fill(b, left)
		}
		return append(append(json.RawMessage("["), bytes.Join(raws(blocks), []byte(","))...), ']')
	case '{':
		for _, key := range group(v) {
			if inner := rawjson.Get(v, key); hasSlots(inner) {
				v = rawjson.With(v, rawjson.Member{Key: key, Value: fill(inner, left)})
			}
		}
	}
	return v
}

func hasSlots(v json.RawMessage) bool {
	_, ok := slotTexts(v)
	return ok
}

func raws(list []json.RawMessage) [][]byte {
	out := make([][]byte, len(list))
	for i, v := range list {
		out[i] = v
	}
	return out
}

func kind(v json.RawMessage) byte {
	if len(v) == 0 {
		return 0
	}
	return v[0]
}
