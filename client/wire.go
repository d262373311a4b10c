package client

import (
	"net/url"

	"github.com/hookd/hookd/internal/contract/api"
)

// What the socket answers with around this package's types. These are read and
// written as JSON themselves: their members are those of the wire types.
type (
	refusal struct {
		OK    *bool  `json:"ok,omitempty"` // false, on line answers only
		Error *Error `json:"error"`
	}
	runsPage struct {
		Runs   []Run  `json:"runs"`
		Next   uint64 `json:"next,omitempty"`   // RunQuery.Before that goes on where this answer ends; 0 = there is no more
		Recent bool   `json:"recent,omitempty"` // only of the last runs: the history cannot be read now
	}
	decisionsPage struct {
		Decisions []Decision `json:"decisions"`
		Next      uint64     `json:"next,omitempty"` // as in runsPage
		Recent    bool       `json:"recent,omitempty"`
	}
	pastPage struct {
		Events []StoredEvent `json:"events"`
		Next   uint64        `json:"next,omitempty"`
	}
	acceptedPage struct {
		Events []AcceptedEvent `json:"events"`
		Next   uint64          `json:"next,omitempty"` // as in runsPage
	}
	sessionsPage struct {
		Sessions []Session `json:"sessions"`
	}
	runningPage struct {
		Runs []RunUnderWay `json:"runs"`
	}
	statsPage struct {
		Hooks  []HookStats  `json:"hooks"`
		Groups []GroupStats `json:"groups,omitempty"`
	}
	deadPage struct {
		Dead []DeadLetter `json:"dead"`
	}
)

// Queries are written in URLs; the conversions compile while the fields are the same.
func (q RunQuery) values() url.Values      { return api.RunQuery(q).Values() }
func (q DecisionQuery) values() url.Values { return api.DecisionQuery(q).Values() }
func (q EventQuery) values() url.Values    { return api.EventQuery(q).Values() }
func (q CountQuery) values() url.Values {
	return api.CountQuery{DecisionQuery: api.DecisionQuery(q.DecisionQuery), Every: q.Every}.Values()
}
func (q FleetQuery) values() url.Values {
	of := api.DecisionQuery(q.DecisionQuery)
	return api.FleetQuery{DecisionQuery: of, Machine: q.Machine, After: q.After}.Values()
}
func (q SessionQuery) values() url.Values { return api.SessionQuery(q).Values() }
func (q StatsQuery) values() url.Values   { return api.StatsQuery(q).Values() }
