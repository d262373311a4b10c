package server

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/hookd/hookd/internal/base/spell"
	"github.com/hookd/hookd/wire"
)

type route struct {
	method, path string
	access       access
	impact       impact
	serve        http.HandlerFunc
	query        string // parameters that it knows, separated by blanks
}

// impact says how a route can affect guards.
type impact string

const (
	looks   impact = "looks"   // it changes nothing
	acts    impact = "acts"    // it changes something, and no guard becomes weaker
	weakens impact = "weakens" // a guard may become weaker: Options.Weakens is asked
	answers impact = "answers" // it answers an ask, or takes a call back: Asks, Fleet and Undo say who may
)

// The longer lists of parameters.
const (
	runParams      = "hook event event_id session agent result tool q test since until before limit"
	decisionParams = "decision tool agent session hook event event_id cwd q parts shadow without rewrote took " +
		"since until after before"
	eventParams   = "session event agent tool cwd q since until before limit"
	sessionParams = "agent session cwd state since until limit"
	fleetParams   = "decision tool agent session hook event event_id cwd q parts shadow since until limit machine through"
)

// routes is the table of the routes, their users, and their impact. Of the line door, events and pings
// are for every user, subscriptions for the owner.
func (s *Server) routes() []route {
	o := &s.opt
	return []route{
		{"POST", wire.PathEvents, everyUser, acts, s.postEvents, "wait"},
		{"GET", wire.PathEvents, ownerOnly, looks, s.getEvents, "match since epoch follow starts"},
		{"GET", wire.PathEvents + "/{id}", ownerOnly, looks, byKey(&o.History, "id", History.Event), ""},
		{"POST", wire.PathEvents + "/{id}/replay", ownerOnly, acts, postReplay(s), ""},
		{"GET", wire.PathHooks, ownerOnly, looks, listed(&o.Hooks, Hooks.Hooks), ""},
		{"GET", wire.PathHooks + "/{name}", ownerOnly, looks, byKey(&o.Hooks, "name", Hooks.Hook), ""},
		{"POST", wire.PathHooks + "/{name}/test", ownerOnly, acts, s.postTest, ""},
		{"POST", wire.PathHooks + "/{name}/tests", ownerOnly, acts, byKeyFrom(&o.Hooks, "name", Hooks.RunTests), ""},
		{"POST", wire.PathReload, ownerOnly, weakens, s.postReload, ""},
		{"GET", wire.PathRuns, ownerOnly, looks, queried(&o.Runs, wire.ParseRunQuery, Runs.Runs), runParams},
		{"GET", wire.PathRuns + "/{id}", ownerOnly, looks, byKey(&o.Runs, "id", Runs.Run), ""},
		{"POST", wire.PathRuns + "/{id}/kill", ownerOnly, weakens, byKey(&o.Runs, "id", Runs.Kill), ""},
		{"GET", wire.PathRunning, ownerOnly, looks, listed(&o.Runs, Runs.Running), ""},
		{"POST", wire.PathBoxes + "/{id}", everyUser, acts, postBox(s, Boxes.BeginBox), ""},
		{"POST", wire.PathBoxes + "/{id}/end", everyUser, acts, postBox(s, Boxes.EndBox), ""},
		{
			"GET", wire.PathDecisions, ownerOnly, looks,
			queried(&o.History, wire.ParseDecisionQuery, History.Decisions), decisionParams + " limit",
		},
		{"POST", wire.PathDecisions + "/{id}/permit", ownerOnly, weakens, postPermit(s), ""},
		{
			"GET", wire.PathCounts, ownerOnly, looks,
			queried(&o.History, wire.ParseCountQuery, History.CountDecisions), decisionParams + " every",
		},
		{
			"GET", wire.PathAccepted, ownerOnly, looks,
			queried(&o.History, wire.ParseEventQuery, History.Accepted), eventParams,
		},
		{"GET", wire.PathPast, ownerOnly, looks, queried(&o.History, wire.ParseEventQuery, History.Past), eventParams},
		{
			"GET", wire.PathSessions, ownerOnly, looks,
			queried(&o.History, wire.ParseSessionQuery, History.Sessions), sessionParams,
		},
		{"GET", wire.PathAsks, ownerOnly, looks, s.getAsks, "follow answers"},
		{"GET", wire.PathAsks + "/{id}", ownerOnly, looks, byKey(&o.Asks, "id", Asks.Ask), ""},
		{"POST", wire.PathAsks + "/{id}", ownerOnly, answers, postAsk(s), ""},
		{
			"GET", wire.PathUndo, ownerOnly, looks,
			queried(&o.Undo, wire.ParseUndoQuery, Undo.Undoable), "session path since limit",
		},
		{"DELETE", wire.PathUndo + "/{id}", ownerOnly, weakens, byKey(&o.Undo, "id", Undo.Purge), ""},
		{"POST", wire.PathUndo, ownerOnly, answers, postUndo(s), ""},
		{"POST", wire.PathUndo + "/{id}/dumps", ownerOnly, answers, postDump(s), ""},
		{"GET", wire.PathGrants, ownerOnly, looks, listed(&o.Asks, Asks.Grants), ""},
		{"DELETE", wire.PathGrants + "/{id}", ownerOnly, weakens, byKeyFrom(&o.Asks, "id", Asks.RevokeGrant), ""},
		{"GET", wire.PathAgents + "/{agent}/last", ownerOnly, looks, s.getLast, "except"},
		{
			"GET", wire.PathStats, ownerOnly, looks,
			queried(&o.History, wire.ParseStatsQuery, History.Stats), "hook by since until",
		},
		{"GET", wire.PathDead, ownerOnly, looks, s.getDeadLetters, "hook before limit"},
		{"GET", wire.PathDead + "/{id}", ownerOnly, looks, byNumber(&o.History, History.DeadLetter), ""},
		{"POST", wire.PathDead + "/{id}/retry", ownerOnly, acts, byNumber(&o.History, History.RetryDead), ""},
		{"DELETE", wire.PathDead + "/{id}", ownerOnly, weakens, byNumber(&o.History, History.DropDead), ""},
		{"POST", wire.PathRecover, ownerOnly, acts, s.postRecover, ""},
		{"GET", wire.PathStatus, ownerOnly, looks, listed(&o.State, State.Status), ""},
		{"GET", wire.PathFleet, ownerOnly, looks, listedOrError(&o.Fleet, Fleet.Fleet), ""},
		{
			"GET", wire.PathFleetDecisions, ownerOnly, looks,
			queried(&o.Fleet, wire.ParseFleetQuery, Fleet.FleetDecisions), fleetParams,
		},
		{
			"GET", wire.PathFleetSessions, ownerOnly, looks,
			queried(&o.Fleet, wire.ParseSessionQuery, Fleet.FleetSessions), sessionParams,
		},
		{"GET", wire.PathFleetAsks, ownerOnly, looks, listedOrError(&o.Fleet, Fleet.FleetAsks), ""},
		{"POST", wire.PathFleetAnswers, ownerOnly, answers, postFleetAnswer(s), ""},
		{"GET", wire.PathFleetDead, ownerOnly, looks, s.getFleetDead, "hook limit"},
		{"GET", wire.PathFleetDead + "/{id}", ownerOnly, looks, byNumber(&o.Fleet, Fleet.FleetDeadLetter), ""},
		{"POST", wire.PathFleetDead + "/{id}/retry", ownerOnly, acts, byNumber(&o.Fleet, Fleet.RetryFleetDead), ""},
		{"DELETE", wire.PathFleetDead + "/{id}", ownerOnly, weakens, byNumber(&o.Fleet, Fleet.DropFleetDead), ""},
		{"POST", wire.PathFleetLink, ownerOnly, acts, s.postFleetLink, ""},
		{"POST", wire.PathWeaken, ownerOnly, weakens, postWeaken, "what"},
		{"GET", wire.PathHealthz, everyUser, looks, getHealthz, ""},
		{"GET", wire.PathReadyz, ownerOnly, looks, s.getReadyz, ""},
		{"GET", wire.PathMetrics, ownerOnly, looks, s.getMetrics, ""},
	}
}

// listed answers with a list that can always be read. Like the functions below it takes a pointer to
// the source, since the source may be set after the routes are made.
func listed[S, A any](source *S, read func(S, context.Context) A) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) { respond(w, http.StatusOK, read(*source, r.Context())) }
}

// listedOrError answers with a list, or says why it cannot be read.
func listedOrError[S, A any](source *S, read func(S, context.Context) (A, *wire.Error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		found, bad := read(*source, r.Context())
		answer(w, found, bad)
	}
}

// byKey calls do for the thing that the path names by {key}.
func byKey[S, A any](source *S, key string, do func(S, context.Context, string) (A, *wire.Error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		found, bad := do(*source, r.Context(), r.PathValue(key))
		answer(w, found, bad)
	}
}

// byKeyFrom is byKey for what depends on the peer.
func byKeyFrom[S, A any](
	source *S, key string, do func(S, context.Context, Peer, string) (A, *wire.Error),
) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		done, bad := do(*source, r.Context(), peerOf(r), r.PathValue(key))
		answer(w, done, bad)
	}
}

// byNumber is byKey for the numbers of dead letters.
func byNumber[S any](source *S, do func(S, context.Context, int64) (wire.DeadLetter, *wire.Error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		id, bad := numberParam(r.PathValue("id"), "id", 1<<62)
		if bad != nil {
			refuse(w, bad)
			return
		}
		dead, bad := do(*source, r.Context(), id)
		answer(w, dead, bad)
	}
}

// queried answers a GET whose query parse reads with the result that ask finds in source.
func queried[S, Q, A any](
	source *S,
	parse func(url.Values, time.Time) (Q, *wire.Error),
	ask func(S, context.Context, Q) (A, *wire.Error),
) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		q, bad := parse(r.URL.Query(), time.Now())
		if bad != nil {
			refuse(w, bad)
			return
		}
		found, bad := ask(*source, r.Context(), q)
		answer(w, found, bad)
	}
}

// guarded is a route that asks Options.Weakens first, if it weakens. PathWeaken announces the act of a
// command; every other route acts on its own. A route of a fleet needs one.
func (s *Server) guarded(r route) route {
	if strings.HasPrefix(r.path, wire.PathFleet) && s.opt.Fleet == nil {
		r.serve = func(w http.ResponseWriter, _ *http.Request) { refuse(w, errNoFleet) }
		return r
	}
	if r.impact != weakens {
		return r
	}
	serve := r.serve
	r.serve = func(w http.ResponseWriter, req *http.Request) {
		what := r.method + " " + req.URL.Path
		if r.path == wire.PathWeaken {
			what = req.URL.Query().Get("what")
		}
		if bad := s.opt.Weakens(peerOf(req), what); bad != nil {
			refuse(w, bad)
			return
		}
		serve(w, req)
	}
	return r
}

var errNoFleet = &wire.Error{
	Code: wire.CodeNotFound, Message: "this machine is in no fleet",
	Hint: "set fleet.servers in hookd.yaml, then type `hookd daemon restart`; see docs/reference/fleet.md",
}

// checked serves a request of a peer that may use the route, whose query it knows. A parameter that is
// misspelled must not be taken for none: it selects, or it waits.
func (r route) checked(w http.ResponseWriter, req *http.Request) {
	if peer := connOf(req).peer; !r.access.admits(peer) {
		refuse(w, errOwner(peer))
		return
	}
	if req.URL.RawQuery != "" {
		known := strings.Fields(r.query)
		values, err := url.ParseQuery(req.URL.RawQuery)
		if err != nil {
			refuse(
				w,
				&wire.Error{
					Code:    wire.CodeBadRequest,
					Message: "the query cannot be read: " + err.Error(),
					Hint:    "write it as key=value&key=value, with % and two digits for other characters",
				},
			)
			return
		}
		for _, key := range slices.Sorted(maps.Keys(values)) {
			if !slices.Contains(known, key) {
				refuse(w, unknownParameter(r, key, known))
				return
			}
		}
	}
	r.serve(w, req)
}

func unknownParameter(r route, key string, known []string) *wire.Error {
	bad := &wire.Error{
		Code:    wire.CodeBadRequest,
		Message: fmt.Sprintf("%s %s has no parameter %q", r.method, r.path, key),
	}
	near := spell.Near(key, known)
	switch {
	case near != "":
		bad.Hint = "did you mean " + near + "? it knows " + strings.Join(known, ", ")
	case len(known) > 0:
		bad.Hint = "it knows " + strings.Join(known, ", ")
	default:
		bad.Hint = "it knows none"
	}
	return bad
}
