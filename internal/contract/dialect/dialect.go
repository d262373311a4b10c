// Package dialect is the list of dialects and the functions that need all of them: the
// payload of an event in another dialect's words, the names of its tool, and the agents
// that the bridge can stand for. It is pure, knows no hook and never blocks. A fact
// that an event does not hold stays unknown, and nothing here fails.
package dialect

import (
	"slices"

	"github.com/hookd/hookd/internal/contract/dialect/neutral"
	"github.com/hookd/hookd/internal/events"
)

// Agent returns the agent that speaks d, or nil. One without an Answer takes a
// plugin and not the bridge. Do not change it.
func Agent(d events.Dialect) *neutral.Agent {
	if e := find(d); e != nil {
		return e.agent()
	}
	return nil
}

// Agents returns the names of all agents that the bridge can stand for, sorted. Agents
// that take a plugin instead are not among them.
func Agents() []string {
	var names []string
	for e := range entries() {
		if agent := e.agent(); agent != nil && agent.Answer != nil {
			names = append(names, string(e.Name))
		}
	}
	slices.Sort(names)
	return names
}

// Settings returns where the agent that speaks d keeps its hooks; nil for a
// dialect without an agent.
func Settings(d events.Dialect) *neutral.Settings {
	e := find(d)
	if e == nil || e.Settings == nil {
		return nil
	}
	s := e.Settings()
	return &s
}

// Guest returns how the agent that speaks d runs the hooks of other agents'
// settings; nil = it does not.
func Guest(d events.Dialect) *neutral.Guest {
	if e := find(d); e != nil {
		return e.Guest
	}
	return nil
}

// Guests returns the dialects whose agents run the hooks in host's settings too.
func Guests(host events.Dialect) (list []events.Dialect) {
	for e := range entries() {
		if e.Guest != nil && slices.Contains(e.Guest.Hosts, host) {
			list = append(list, e.Name)
		}
	}
	return list
}

// AgentsWith returns the names of the agents whose settings are so, sorted.
func AgentsWith(so func(*neutral.Settings) bool) []string {
	var names []string
	for e := range entries() {
		if s := Settings(e.Name); s != nil && so(s) {
			names = append(names, string(e.Name))
		}
	}
	slices.Sort(names)
	return names
}

// Probe returns the event that `hookd doctor` sends for the agent that speaks d.
func Probe(d events.Dialect) neutral.Probe {
	if e := find(d); e != nil {
		return e.probeOf(neutral.RunCall, neutral.Shell, runsTrue)
	}
	return neutral.Probe{}
}

// nothing is the table of a dialect that is not known.
var nothing neutral.Table

func table(d events.Dialect) *neutral.Table {
	if a := Agent(d); a != nil {
		return &a.Table
	}
	return &nothing
}
