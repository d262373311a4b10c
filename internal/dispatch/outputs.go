package dispatch

import (
	"container/list"
	"strings"
	"sync"
	"time"
)

// Limits of outputs.
const (
	maxOutput        = 256 << 10 // of one conversation
	maxConversations = 10_000
	maxOutputs       = 8 << 20 // of all conversations
	outputAge        = 24 * time.Hour
)

// outputs keeps for each conversation the texts that its hooks printed for later ones. They come in the
// order in which the hooks ended, joined by line ends. It is bounded: of a conversation the newest outputs
// stay, and of the conversations those used last, for a day. It does not outlive the daemon. The zero value
// works, and it is safe for concurrent use.
type outputs struct {
	mu    sync.Mutex
	byKey map[string]*list.Element // of conversations in used
	used  list.List                // *conversation, the one used last first
	size  int                      // bytes of all texts
}

type conversation struct {
	key   string
	texts []string
	size  int
	last  time.Time
}

// add adds a text that a hook of the conversation printed. Of a text that is
// larger than the bound, the end stays. An empty text adds nothing.
func (o *outputs) add(key, text string, now time.Time) {
	if text == "" {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	c := o.touch(key, now)
	if len(text) > maxOutput {
		text = strings.ToValidUTF8(text[len(text)-maxOutput:], "")
	}
	c.texts = append(c.texts, text)
	o.grow(c, len(text))
	for c.size > maxOutput {
		o.grow(c, -len(c.texts[0]))
		c.texts = c.texts[1:]
	}
	o.expire(now)
}

// get returns the conversation's output so far; "" if there is none.
func (o *outputs) get(key string, now time.Time) string {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.expire(now)
	if o.byKey[key] == nil {
		return ""
	}
	return strings.Join(o.touch(key, now).texts, "\n")
}

// touch returns the conversation, new or not, and makes it the one used last.
func (o *outputs) touch(key string, now time.Time) *conversation {
	if o.byKey == nil {
		o.byKey = map[string]*list.Element{}
	}
	at := o.byKey[key]
	if at == nil {
		at = o.used.PushFront(&conversation{key: key})
		o.byKey[key] = at
	}
	o.used.MoveToFront(at)
	c := at.Value.(*conversation)
	c.last = now
	return c
}

func (o *outputs) grow(c *conversation, by int) {
	c.size += by
	o.size += by
}

// expire forgets conversations from the one unused longest on.
func (o *outputs) expire(now time.Time) {
	for at := o.used.Back(); at != nil; at = o.used.Back() {
		c := at.Value.(*conversation)
		if o.size <= maxOutputs && o.used.Len() <= maxConversations && now.Sub(c.last) < outputAge {
			return
		}
		o.size -= c.size
		o.used.Remove(at)
		delete(o.byKey, c.key)
	}
}
