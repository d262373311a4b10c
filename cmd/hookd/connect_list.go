package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/hookd/hookd/internal/agents/connect"
)

// listAgents shows how each agent is connected.
func (a *app) listAgents(cmd *cobra.Command, f connectFlags) error {
	var list []connect.Status
	for _, name := range connect.Names() {
		s := connect.Inspect(f.options(cmd, name))
		if f.project != "" && s.State == connect.Unreadable && s.File == "" {
			continue // it reads no project's hooks
		}
		list = append(list, s)
	}
	return a.print(map[string]any{"agents": list}, func(p *printer) {
		var rows [][]cell
		for _, s := range list {
			rows = append(rows, []cell{text(s.Agent), agentState(s), text(tilde(s.File))})
		}
		p.table([]column{{title: "AGENT"}, {title: "STATE"}, pathColumn("SETTINGS")}, rows)
		for _, s := range list {
			for _, note := range append([]string{s.Note}, s.Notes...) {
				p.note(s.Agent, note)
			}
		}
	})
}

// note prints what is to be known of something in a list, in lines that fit.
func (p *printer) note(of, text string) {
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
	Do    string `json:"do"` // what to type
}

// connectFound connects every agent that is on this machine. One that fails does
// not keep the others from being connected.
func (a *app) connectFound(cmd *cobra.Command, f connectFlags) error {
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
		answer, err := a.connect(cmd, f.options(cmd, agent.Agent), f)
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
