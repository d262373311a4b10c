package worker

// callList is a list of calls, linked through the calls themselves: adding and
// removing one allocates nothing.
type callList struct {
	first, last *Request
	n           int
}

func (l *callList) push(c *Request) {
	if c.prev, c.next = l.last, nil; l.last == nil {
		l.first = c
	} else {
		l.last.next = c
	}
	l.last = c
	l.n++
}

// unshift adds c in front.
func (l *callList) unshift(c *Request) {
	if c.prev, c.next = nil, l.first; l.first == nil {
		l.last = c
	} else {
		l.first.prev = c
	}
	l.first = c
	l.n++
}

func (l *callList) remove(c *Request) {
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
// in order, and the list of a worker is short.
func (l *callList) find(id []byte) *Request {
	for c := l.first; c != nil; c = c.next {
		if c.ID == string(id) {
			return c
		}
	}
	return nil
}

// removeAll empties the list and returns its first call.
func (l *callList) removeAll() *Request {
	first := l.first
	*l = callList{}
	return first
}

// appendAll adds c and all calls linked behind it.
func (l *callList) appendAll(c *Request) {
	for c != nil {
		next := c.next
		l.push(c)
		c = next
	}
}

func (l *callList) holds(c *Request) bool {
	for other := l.first; other != nil; other = other.next {
		if other == c {
			return true
		}
	}
	return false
}
