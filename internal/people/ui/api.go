package ui

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/hookd/hookd/client"
	"github.com/hookd/hookd/internal/agents/transcripts"
	"github.com/hookd/hookd/internal/base/duration"
	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/internal/hooks/schema"
)

// asked are the routes of the socket that the page may use, as patterns of
// net/http. A route that is not here is not asked.
var asked = []string{
	"GET /v1/accepted",
	"GET /v1/asks",
	"GET /v1/asks/{id}",
	"GET /v1/dead",
	"GET /v1/dead/{id}",
	"GET /v1/decisions",
	"GET /v1/decisions/counts",
	"GET /v1/events/{id}",
	"GET /v1/fleet",
	"GET /v1/fleet/decisions",
	"GET /v1/fleet/sessions",
	"GET /v1/grants",
	"GET /v1/hooks",
	"GET /v1/hooks/{name}",
	"GET /v1/running",
	"GET /v1/runs",
	"GET /v1/runs/{id}",
	"GET /v1/sessions",
	"GET /v1/stats",
	"GET /v1/status",
	"GET /v1/undo",
}

// acts are the routes that change something, with Options.Act.
var acts = []string{
	"DELETE /v1/grants/{id}",
	"POST /v1/asks/{id}",
	"POST /v1/decisions/{id}/permit",
	"POST /v1/undo",
	"POST /v1/dead/{id}/retry",
	"POST /v1/events/{id}/replay",
	"POST /v1/hooks/{name}/test",
	"POST /v1/hooks/{name}/tests",
	"POST /v1/runs/{id}/kill",
}

// askTime is how long an answer of the daemon may take. A hook that is tried may
// take its own time.
const (
	askTime = 20 * time.Second
	actTime = 10 * time.Minute
)

func (s *Server) handler() http.Handler {
	mux := http.NewServeMux()
	for _, route := range asked {
		mux.HandleFunc(route, s.ask(askTime))
	}
	for _, route := range acts {
		mux.HandleFunc(route, s.act(s.ask(actTime)))
	}
	mux.HandleFunc("GET /about", s.about)
	mux.HandleFunc("GET /live", s.stream)
	mux.HandleFunc("GET /waiting", s.waiting)
	mux.HandleFunc("POST /hooks/{name}/allow", s.act(s.weakens("allow", s.allow)))
	mux.HandleFunc("POST /hooks/{name}/enable", s.act(s.turn(true)))
	mux.HandleFunc("POST /hooks/{name}/disable", s.act(s.weakens("disable", s.turn(false))))
	mux.HandleFunc("POST /hooks/{name}/snooze", s.act(s.weakens("snooze", s.snooze)))
	mux.HandleFunc("POST /hooks/{name}/check", s.act(s.check))
	mux.HandleFunc("POST /hooks/{name}/save", s.act(s.weakens("edit", s.save)))
	mux.HandleFunc("GET /versions/{name}", s.versions)
	mux.HandleFunc("GET /schema", s.schema)
	mux.HandleFunc("GET /guards/{name}", s.guard)
	mux.HandleFunc("GET /calls/{id}", s.story)
	mux.HandleFunc("GET /session", s.session)
	mux.HandleFunc("GET /scan", s.look(Hooks.Scan))
	mux.HandleFunc("GET /blindspots", s.look(Hooks.BlindSpots))
	mux.HandleFunc("GET /learn", s.look(Hooks.Learn))
	mux.HandleFunc("POST /learn/{name}", s.act(s.weakens("learn", s.take)))
	mux.HandleFunc("POST /calls/{id}/test", s.act(s.weakens("test", s.falseAlarm)))
	mux.HandleFunc("GET /texts", s.texts)
	mux.HandleFunc("GET /whatif/{id}", s.pastAnswer)
	mux.HandleFunc("POST /whatif", s.act(s.askPast))
	mux.HandleFunc("POST /whatif/{id}/stop", s.act(s.stopPast))
	mux.HandleFunc("GET /{$}", serveAsset("index.html"))
	mux.HandleFunc("GET /{file...}", func(w http.ResponseWriter, r *http.Request) {
		serveAsset(r.PathValue("file"))(w, r)
	})
	root := http.NewServeMux()
	root.Handle(s.base, http.StripPrefix(s.base[:len(s.base)-1], mux))
	root.HandleFunc("/{$}", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, s.base, http.StatusSeeOther)
	})
	return s.guarded(root)
}

// act refuses where the page may only look, and refuses each request that a form of another
// page could send.
func (s *Server) act(do http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		media, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
		switch {
		case !s.opt.Act:
			refuse(w, http.StatusForbidden, "forbidden", "this page only shows: start it with `hookd ui --act`")
		case media != "application/json":
			refuse(w, http.StatusUnsupportedMediaType, "bad_request", "the body must be application/json")
		default:
			do(w, r)
		}
	}
}

// weakens asks the daemon before files of a hook are changed so that a guard may become
// weaker: an agent may have started this page. Other acts are requests to the daemon.
func (s *Server) weakens(what string, do http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(r.Context(), askTime)
		defer cancel()
		err := s.opt.Client.MayWeaken(ctx, what+" "+r.PathValue("name")+" (page)")
		var refused *client.Error
		switch {
		case errors.As(err, &refused) && refused.Code == client.CodeForbidden:
			refuse(w, http.StatusForbidden, "forbidden", refused.Message)
		case refused == nil && err != nil && !errors.Is(err, client.ErrNotRunning):
			s.away(w, err)
		default:
			do(w, r)
		}
	}
}

// ask hands the request to the daemon, and its answer back.
func (s *Server) ask(within time.Duration) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var body []byte
		if r.Method == http.MethodPost {
			var err error
			if body, err = io.ReadAll(r.Body); err != nil {
				refuse(w, http.StatusRequestEntityTooLarge, "too_large", "the request is too large")
				return
			}
		}
		path := (&url.URL{Path: r.URL.Path, RawPath: r.URL.RawPath}).EscapedPath()
		if r.URL.RawQuery != "" {
			path += "?" + r.URL.RawQuery
		}
		ctx, cancel := context.WithTimeout(r.Context(), within)
		defer cancel()
		status, answer, err := s.opt.Client.Raw(ctx, r.Method, path, body)
		if err != nil {
			s.away(w, err)
			return
		}
		send(w, status, answer)
	}
}

// away says that the daemon gave no answer.
func (s *Server) away(w http.ResponseWriter, err error) {
	code := "no_answer"
	if errors.Is(err, client.ErrNotRunning) {
		code = "not_running"
	}
	refuse(w, http.StatusBadGateway, code, err.Error())
}

// aboutPage has the facts that the page must know before it asks the daemon anything.
type aboutPage struct {
	Act     bool   `json:"act"`
	Version string `json:"version"`
	User    string `json:"user"`
	Host    string `json:"host"`
	Home    string `json:"home,omitempty"`
	Socket  string `json:"socket"`

	Agents map[events.Dialect]string `json:"agents"` // how people call them
}

func (s *Server) about(w http.ResponseWriter, _ *http.Request) {
	host, _ := os.Hostname() // without it, the page shows none
	answer(w, aboutPage{
		Act: s.opt.Act, Version: s.opt.Version, User: s.opt.User, Host: host, Home: s.opt.Home,
		Socket: s.opt.Client.Socket(), Agents: titles(),
	})
}

// titles are the names of agents for people; an agent without one has its dialect in capitals.
func titles() map[events.Dialect]string {
	list := map[events.Dialect]string{}
	for _, d := range events.Dialects() {
		words := strings.Split(transcripts.Title(d), "-")
		for i, w := range words {
			words[i] = strings.ToUpper(w[:min(1, len(w))]) + w[min(1, len(w)):]
		}
		list[d] = strings.Join(words, " ")
	}
	return list
}

func (s *Server) waiting(w http.ResponseWriter, _ *http.Request) {
	list := []Waiting{}
	if s.opt.Hooks != nil {
		list = append(list, s.opt.Hooks.Waiting()...)
	}
	answer(w, map[string][]Waiting{"waiting": list})
}

// allow puts the version of a hook into force that the page has shown.
func (s *Server) allow(w http.ResponseWriter, r *http.Request) {
	var shown struct {
		Digest string `json:"digest"`
	}
	if err := json.NewDecoder(r.Body).Decode(&shown); err != nil || s.opt.Hooks == nil {
		refuse(w, http.StatusBadRequest, "bad_json", `send {"digest":"…"} of the version that is to be allowed`)
		return
	}
	for _, v := range s.opt.Hooks.Waiting() {
		if v.Hook == r.PathValue("name") && v.Digest == shown.Digest && !v.Gone {
			s.changed(w, r, s.opt.Hooks.Allow(v))
			return
		}
	}
	refuse(w, http.StatusConflict, "not_found", "this version does not wait any more: look at it again")
}

func (s *Server) turn(on bool) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if s.opt.Hooks == nil {
			refuse(w, http.StatusNotFound, "not_found", "this page knows no files of hooks")
			return
		}
		s.changed(w, r, s.opt.Hooks.Switch(r.PathValue("name"), on))
	}
}

// mostSnooze is the longest that a hook is off by a snooze.
const mostSnooze = 7 * 24 * time.Hour

// snooze switches a hook off for some time.
func (s *Server) snooze(w http.ResponseWriter, r *http.Request) {
	var asked struct {
		For string `json:"for"`
	}
	json.NewDecoder(r.Body).Decode(&asked) // what cannot be read is no duration
	d, err := duration.Span(asked.For)
	if err != nil || d < time.Second || d > mostSnooze || s.opt.Hooks == nil {
		refuse(w, http.StatusBadRequest, "bad_request", `send {"for":"1h"}, at most 7d`)
		return
	}
	s.changed(w, r, s.opt.Hooks.Snooze(r.PathValue("name"), time.Now().Add(d).Round(time.Second)))
}

// check reads an edited hook and runs its tests.
func (s *Server) check(w http.ResponseWriter, r *http.Request) {
	var d Draft
	if err := json.NewDecoder(r.Body).Decode(&d); err != nil || s.opt.Hooks == nil {
		refuse(w, http.StatusBadRequest, "bad_json", `send {"texts":{"HOOK.yaml":"…"}}`)
		return
	}
	s.work(w, r, func(ctx context.Context) (any, error) { return s.opt.Hooks.Check(ctx, r.PathValue("name"), d.Texts) })
}

// save puts an edited hook into force.
func (s *Server) save(w http.ResponseWriter, r *http.Request) {
	var d Draft
	if err := json.NewDecoder(r.Body).Decode(&d); err != nil || len(d.Texts) == 0 || s.opt.Hooks == nil {
		refuse(w, http.StatusBadRequest, "bad_json", `send {"texts":{"HOOK.yaml":"…"},"was":{…}}`)
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), actTime)
	defer cancel()
	err := s.opt.Hooks.Save(ctx, r.PathValue("name"), d)
	if errors.Is(err, ErrChanged) {
		refuse(w, http.StatusConflict, "changed", err.Error())
		return
	}
	s.changed(w, r, err)
}

func (s *Server) versions(w http.ResponseWriter, r *http.Request) {
	if s.opt.Hooks == nil {
		refuse(w, http.StatusNotFound, "not_found", "this page knows no files of hooks")
		return
	}
	s.work(w, r, func(context.Context) (any, error) { return s.opt.Hooks.Versions(r.PathValue("name")) })
}

// schema is the JSON Schema of HOOK.yaml, from which the editor completes words.
func (s *Server) schema(w http.ResponseWriter, _ *http.Request) {
	text, _ := schema.Of("hook") // there is one
	send(w, http.StatusOK, text)
}

// guard tells what a hook said in the time from since to until, both as RFC 3339.
func (s *Server) guard(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	since, err := time.Parse(time.RFC3339, q.Get("since"))
	until, end := time.Parse(time.RFC3339, q.Get("until"))
	if err != nil || end != nil && q.Has("until") || s.opt.Hooks == nil {
		refuse(w, http.StatusBadRequest, "bad_request", "send since, and perhaps until, as 2026-01-31T14:00:00Z")
		return
	}
	s.work(w, r, func(ctx context.Context) (any, error) {
		return s.opt.Hooks.Guard(ctx, r.PathValue("name"), since, until, q.Get("by"))
	})
}

// story tells a call.
func (s *Server) story(w http.ResponseWriter, r *http.Request) {
	s.told(w, r, func(ctx context.Context, id string) (any, error) { return s.opt.Calls.Story(ctx, id) })
}

// session tells a session.
func (s *Server) session(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	s.told(w, r, func(ctx context.Context, _ string) (any, error) {
		return s.opt.Calls.Session(ctx, q.Get("id"), q.Get("agent"))
	})
}

// look answers from files.
func (s *Server) look(see func(Hooks, context.Context) (any, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if s.opt.Hooks == nil {
			refuse(w, http.StatusNotFound, "not_found", "this page reads no files")
			return
		}
		s.work(w, r, func(ctx context.Context) (any, error) { return see(s.opt.Hooks, ctx) })
	}
}

// take puts a rule into force that was learned.
func (s *Server) take(w http.ResponseWriter, r *http.Request) {
	if s.opt.Hooks == nil {
		refuse(w, http.StatusNotFound, "not_found", "this page changes no files")
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), askTime)
	defer cancel()
	s.changed(w, r, s.opt.Hooks.Take(ctx, r.PathValue("name")))
}

// falseAlarm makes a test of a call. The rule stays as it is.
func (s *Server) falseAlarm(w http.ResponseWriter, r *http.Request) {
	var asked struct {
		Expect string `json:"expect"`
	}
	if err := json.NewDecoder(r.Body).Decode(&asked); err != nil || asked.Expect == "" {
		refuse(w, http.StatusBadRequest, "bad_json", `send {"expect":"none"}`)
		return
	}
	s.told(w, r, func(ctx context.Context, id string) (any, error) {
		return s.opt.Calls.FalseAlarm(ctx, id, asked.Expect)
	})
}

func (s *Server) told(w http.ResponseWriter, r *http.Request, tell func(ctx context.Context, id string) (any, error)) {
	if s.opt.Calls == nil {
		refuse(w, http.StatusNotFound, "not_found", "this page tells no calls")
		return
	}
	s.work(w, r, func(ctx context.Context) (any, error) { return tell(ctx, r.PathValue("id")) })
}

// work answers with the result of do, or with its error.
func (s *Server) work(w http.ResponseWriter, r *http.Request, do func(ctx context.Context) (any, error)) {
	ctx, cancel := context.WithTimeout(r.Context(), askTime)
	defer cancel()
	v, err := do(ctx)
	switch {
	case errors.Is(err, client.ErrNotRunning):
		s.away(w, err)
	case err != nil:
		refuse(w, http.StatusUnprocessableEntity, "rejected", err.Error())
	default:
		answer(w, v)
	}
}

// changed answers once the daemon has read its hooks again. That another hook is
// rejected is no failure of this.
func (s *Server) changed(w http.ResponseWriter, r *http.Request, err error) {
	if err != nil {
		refuse(w, http.StatusUnprocessableEntity, "rejected", err.Error())
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), askTime)
	defer cancel()
	var refused *client.Error
	if _, err := s.opt.Client.Reload(ctx); err != nil && !errors.As(err, &refused) {
		s.away(w, err)
		return
	}
	answer(w, map[string]bool{"ok": true})
}

func answer(w http.ResponseWriter, v any) {
	body, err := json.Marshal(v)
	if err != nil {
		panic(err) // of our own types: a fault
	}
	send(w, http.StatusOK, body)
}

// refuse answers as the daemon refuses.
func refuse(w http.ResponseWriter, status int, code, message string) {
	body, _ := json.Marshal(map[string]map[string]string{"error": {"code": code, "message": message}}) // texts
	send(w, status, body)
}

func send(w http.ResponseWriter, status int, body []byte) {
	http.NewResponseController(w).SetWriteDeadline(time.Now().Add(writeTime))
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	w.Write(body)
}
