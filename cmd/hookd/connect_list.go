package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hookd/hookd/internal/agents/connect"
)

// listAgents shows how each agent is connected.
func listAgents(a *app, cmd *cobra.Command, f connectFlags) error {
	here := map[string]string{}
	for _, found := range connect.FindAgents(connect.Options{}) {
		here[found.Agent] = found.By
	}
	list := []agentListed{}
	for _, name := range connect.Names() {
		s := connect.Inspect(f.options(cmd, name))
		if f.project != "" && s.State == connect.Unreadable && s.File == "" {
			continue // it reads no project's hooks
		}
		list = append(list, agentListed{s, here[name]})
	}
	slices.SortStableFunc(list, func(a, b agentListed) int { return cmp.Compare(b.rank(), a.rank()) })
	list = upTo(list, a.limit)
	return a.print(map[string]any{"agents": list}, func(p *printer) { printAgents(p, list) })
}

// agentListed is an agent in a list.
type agentListed struct {
	connect.Status
	Here string `json:"here,omitempty"` // the program or folder that shows that it is here; "" = it is not
}

// rank orders agents that are here before others, and connected agents before all.
func (l agentListed) rank() int {
	switch {
	case l.State == connect.Connected || l.State == connect.Partly:
		return 2
	case l.Here != "":
		return 1
	}
	return 0
}

// printAgents prints which agents are here and how each is connected, and names the others.
func printAgents(p *printer, list []agentListed) {
	var rows [][]cell
	var others []string
	for _, l := range list {
		if l.rank() == 0 && !p.wide {
			others = append(others, l.Agent)
			continue
		}
		here := "no"
		if l.Here != "" {
			here = "yes"
		}
		rows = append(rows, []cell{text(l.Agent), text(here), agentState(l.Status), text(tilde(l.File))})
	}
	if len(rows) > 0 {
		p.table([]column{{title: "AGENT"}, {title: "HERE"}, {title: "STATE"}, pathColumn("SETTINGS")}, rows)
	} else {
		p.line("no agent is found on this machine")
	}
	for _, l := range list {
		for _, note := range append([]string{l.Note}, l.Notes...) {
			if l.rank() > 0 || p.wide {
				printAgentNote(p, l.Agent, note)
			}
		}
	}
	if len(others) > 0 {
		p.line()
		p.line(fillLines("not here: "+strings.Join(others, ", "), cmp.Or(p.width, pipeWidth)))
	}
}

// printAgentNote prints a remark about something in a list, in lines that fit.
func printAgentNote(p *printer, of, text string) {
	if text == "" {
		return
	}
	for i, line := range wrapped(of+": "+text, initWidth-2) {
		if i > 0 {
			line = "  " + line
		}
		p.line(line)
	}
}

func agentState(s connect.Status) cell {
	switch s.State {
	case connect.Connected:
		if s.FailClosed {
			return cell{string(s.State) + ", fail-closed", green}
		}
		return cell{string(s.State), green}
	case connect.Partly:
		if len(s.Missing) == 0 {
			return cell{string(s.State), yellow}
		}
		return cell{fmt.Sprintf("%s (%d of %d events)", s.State, len(s.Events), len(s.Events)+len(s.Missing)), yellow}
	case connect.Unreadable:
		return cell{string(s.State), red}
	}
	return cell{string(s.State), dim}
}

// connectedAll is the answer of `hookd connect --all`.
type connectedAll struct {
	Agents []connected    `json:"agents"`
	Failed []notConnected `json:"failed,omitempty"`
}

// notConnected is an agent that could not be connected.
type notConnected struct {
	Agent string `json:"agent"`
	Error string `json:"error"`
	Do    string `json:"do"` // the command to type
}

// connectFound connects every agent that is on this machine. An agent that fails does
// not keep the others from being connected.
func connectFound(a *app, cmd *cobra.Command, f connectFlags) error {
	if f.project != "" || f.file != "" || f.http {
		return fail(exitUsage, "name an agent, as in `hookd connect claude-code --project .`",
			"--all connects agents in your own settings: --project, --file and --http are for one agent")
	}
	found := connect.FindAgents(connect.Options{})
	if len(found) == 0 {
		return fail(exitFailed, "see which agents can be connected with `hookd connect`",
			"no agent is found on this machine: no program on PATH, no folder of settings")
	}
	var all connectedAll
	for _, agent := range found {
		answer, err := connectAgent(a, cmd, f.options(cmd, agent.Agent), f)
		if err != nil {
			e := explain(err)
			all.Failed = append(all.Failed, notConnected{agent.Agent, e.Error(), e.hint})
			continue
		}
		answer.See = "" // all of them: said once below
		all.Agents = append(all.Agents, answer)
	}
	if err := a.print(all, all.print); err != nil {
		return err
	}
	return exitOf(len(all.Failed) == 0)
}

func (all connectedAll) print(p *printer) {
	for _, c := range all.Agents {
		c.print(p)
	}
	for _, n := range all.Failed {
		p.linef("%s is not connected: %s", n.Agent, n.Error)
		p.linef("  hint: %s", n.Do)
	}
	if len(all.Agents) > 0 && !all.Agents[0].DryRun {
		p.linef("to see that events arrive, let an agent call a tool, then type: hookd doctor %s", all.Agents[0].Agent)
	}
}
