package main

import (
	"fmt"
	"strings"

	"github.com/hookd/hookd/internal/connect"
)

// listAgents tells how each agent is connected.
func (a *app) listAgents(f connectFlags) error {
	var list []connect.Status
	for _, name := range connect.Names() {
		s := connect.Inspect(f.options(name))
		if f.project != "" && s.State == connect.Unreadable && s.File == "" {
			continue // it reads no project's hooks
		}
		list = append(list, s)
	}
	return a.print(map[string]any{"agents": list}, func(p *printer) {
		var rows [][]cell
		for _, s := range list {
			rows = append(rows, []cell{text(s.Agent), agentState(s), text(s.File),
				text(strings.TrimSpace(s.Note + " " + strings.Join(s.Notes, "; ")))})
		}
		p.table([]string{"AGENT", "STATE", "SETTINGS", "NOTE"}, rows)
	})
}

func agentState(s connect.Status) cell {
	switch s.State {
	case connect.Connected:
		return cell{string(s.State), green}
	case connect.Partly:
		return cell{fmt.Sprintf("%s (%d of %d events)", s.State, len(s.Events), len(s.Events)+len(s.Missing)), yellow}
	case connect.Unreadable:
		return cell{string(s.State), red}
	}
	return cell{string(s.State), dim}
}
