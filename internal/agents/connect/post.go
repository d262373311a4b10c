package connect

import (
	"fmt"
	"net/netip"
	"net/url"

	"github.com/hookd/hookd/internal/events"
)

// Post is where an agent that can call hooks over HTTP posts its events.
type Post struct {
	URL   string // hookd's, such as http://127.0.0.1:7780/agents/claude-code
	Token string // what it sends; every user that reads the settings can read it
}

// handler has the members that stand in the place of a command.
func (p *Post) handler() []member {
	return []member{{Key: "type", Value: "http"}, {Key: "url", Value: p.URL},
		{Key: "headers", Value: []member{{Key: "Authorization", Value: "Bearer " + p.Token}}}}
}

// postOf reads an address that is hookd's for agent, on whatever port.
func postOf(address, token, agent string) (call, bool) {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "http" || u.Path != "/agents/"+agent {
		return call{}, false
	}
	if ip, err := netip.ParseAddr(u.Hostname()); u.Hostname() != "localhost" && (err != nil || !ip.IsLoopback()) {
		return call{}, false
	}
	return call{agent: agent, post: &Post{URL: address, Token: token}}, true
}

// posts reports whether an event is to be registered with HTTP.
func (t *target) posts(event string) bool {
	row := events.LookupIn(t.agent.name, event)
	return t.Post != nil && t.agent.Posts != nil && row != nil && t.agent.Posts(row)
}

// current reports whether a call is the call that Connect would register for its event.
func (t *target) current(h registration) bool {
	if t.posts(h.event) {
		return h.call.post != nil && *h.call.post == *t.Post
	}
	return t.wanted(h.call)
}

// checkPost refuses HTTP where it cannot work, or would give the token away.
func (t *target) checkPost() error {
	switch {
	case t.Post == nil:
		return nil
	case t.agent.Posts == nil:
		return fmt.Errorf("%s cannot call hooks over HTTP: leave out --http", t.Agent)
	case t.Project != "":
		return fmt.Errorf("the token would stand in the project's settings, which others read: leave out --project")
	}
	return nil
}
