package worker

// calls is a list of calls, linked through themselves: putting one in and
// taking one out costs no memory.
type calls struct {
	first, last *Call
	n           int
}

func (l *calls) push(c *Call) {
	if c.prev, c.next = l.last, nil; l.last == nil {
		l.first = c
	} else {
		l.last.next = c
	}
	l.last = c
	l.n++
}

// unshift puts c in front.
func (l *calls) unshift(c *Call) {
	if c.prev, c.next = nil, l.first; l.first == nil {
		l.last = c
	} else {
		l.first.prev = c
	}
	l.first = c
	l.n++
}

func (l *calls) remove(c *Call) {
	if c.prev == nil {
		l.first = c.next
	} else {
		c.prev.next = c.next
	}
	if c.next == nil {
		l.last = c.prev
	} else {
		c.next.prev = c.prev
	}
	c.next, c.prev = nil, nil
	l.n--
}

// find returns the call of an event, nil if there is none. Answers mostly come
// in order, and a list of a copy is short.
func (l *calls) find(id []byte) *Call {
	for c := l.first; c != nil; c = c.next {
		if c.ID == string(id) {
			return c
		}
	}
	return nil
}

// take empties the list and returns what was in it.
func (l *calls) take() *Call {
	first := l.first
	*l = calls{}
	return first
}

// append puts a list behind.
func (l *calls) append(c *Call) {
	for c != nil {
		next := c.next
		l.push(c)
		c = next
	}
}

func (l *calls) holds(c *Call) bool {
	for other := l.first; other != nil; other = other.next {
		if other == c {
			return true
		}
	}
	return false
}
