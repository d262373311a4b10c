package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/hookd/hookd/client"
	"github.com/hookd/hookd/internal/base/hooktest"
)

const asksPush = "name: push\nevents: PreToolUse\ntype: script\nscript: |\n" +
	`  grep -q push || exit 0` + "\n" +
	`  echo '{"hookSpecificOutput":{"permissionDecision":"ask","permissionDecisionReason":"a push"}}'` + "\n"

// codexCall is a call as Codex's bridge sends it: Codex cannot ask a person.
func codexCall(command, session string) string {
	return fmt.Sprintf(`{"event":"PreToolUse","dialect":"codex","session_id":%q,"cwd":"/p","wait":true,`+
		`"data":{"tool_name":"Bash","tool_input":{"command":%q}}}`, session, command)
}

func newAskHome(t *testing.T) *home {
	t.Helper()
	h := newHome(t)
	hooktest.Must(t, os.RemoveAll(h.path("hooks/guard"))) // which denies everything
	h.write("hooks/push/HOOK.yaml", asksPush)
	h.serve()
	hooktest.Until(t, "hookd is ready", h.ready)
	return h
}

// present keeps an approver present until it is called.
func (h *home) present() (leave func()) {
	h.Helper()
	ctx, cancel := context.WithCancel(h.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for _, err := range h.client.FollowAsks(ctx, true) {
			if err != nil {
				return
			}
		}
	}()
	leave = sync.OnceFunc(func() { cancel(); <-ended })
	h.Cleanup(leave)
	hooktest.Until(h.T, "an approver is present", func() bool {
		list, err := h.client.Asks(h.Context())
		return err == nil && list.Approvers > 0
	})
	return leave
}

// heldAsk waits for an ask about a command.
func (h *home) heldAsk(command string) (found client.Ask) {
	h.Helper()
	hooktest.Until(h.T, "an ask about "+command+" is held", func() bool {
		list, err := h.client.Asks(h.Context())
		if err != nil {
			return false
		}
		for _, a := range list.Asks {
			if a.Subject == command {
				found = a
				return true
			}
		}
		return false
	})
	return found
}

func (h *home) answer(s *hooktest.Sender, want string) {
	h.Helper()
	if got, err := s.Answer(); err != nil || !strings.Contains(got, want) {
		h.Fatalf("the agent was told %s, %v; want %s", got, err, want)
	}
}

func (h *home) says(code int, want string, args ...string) {
	h.Helper()
	if out, got := h.hookd(args...); got != code || !strings.Contains(out, want) {
		h.Errorf("hookd %s: exit code %d, %s; want %d and %q", strings.Join(args, " "), got, out, code, want)
	}
}

// A push waits, is allowed for the session from another terminal, the next one passes
// by the grant, and a revocation ends that; a denial, and no approver.
func TestAskFromAnotherTerminal(t *testing.T) {
	t.Parallel()
	h := newAskHome(t)
	socket := h.client.Socket()
	h.answer(hooktest.Send(t, socket, codexCall("git push", "s")), `"permission_decision":"ask"`)
	h.says(0, "no approver is present", "asks")
	leave := h.present()

	s := hooktest.Send(t, socket, codexCall("git push --force", "s"))
	ask := h.heldAsk("git push --force")
	h.says(0, "git push --force", "asks")
	h.says(0, "git push --force", "sessions", "--state", "waiting")
	h.says(0, "git push --force", "asks", ending(ask.ID))
	h.says(2, "--like is for an answer that is remembered", "allow-ask", ask.ID, "--like", "git push *")
	h.says(2, "does not cover this call", "allow-ask", ask.ID, "--digest", ask.Card.Digest[:8],
		"--for", "session", "--like", "git pull *")
	h.says(2, "an allow names the digest of what was shown", "allow-ask", ending(ask.ID))
	h.says(2, "the digest belongs to another ask", "allow-ask", ending(ask.ID), "--digest", "00000000")
	h.says(2, "the digest belongs to another ask", "allow-ask", ending(ask.ID), "--digest", ask.Card.Digest[:4])
	h.says(0, "--digest "+ask.Card.Digest[:8], "asks", ending(ask.ID))
	h.says(0, "remembered allow like git push * in /p, for this session", "allow-ask", ending(ask.ID),
		"--digest", ask.Card.Digest[:8], "--for", "session", "--like", "git push *")
	h.answer(s, `"permission_decision":"allow"`)
	h.says(1, "it was answered before: allow", "deny-ask", ask.ID)
	h.says(0, "no such sessions", "sessions", "--state", "waiting")
	list, err := h.client.Decisions(t.Context(), client.DecisionQuery{Text: "--force"})
	if err != nil || len(list) != 1 || list[0].Answered.HeldMS <= 0 || list[0].DurationMS < list[0].Answered.HeldMS {
		t.Errorf("%+v, %v", list, err)
	}

	h.answer(hooktest.Send(t, socket, codexCall("git push --force origin", "s")), "for this session")
	grants, err := h.client.Grants(t.Context())
	if err != nil || len(grants) != 1 || grants[0].Uses != 1 {
		t.Fatalf("%+v, %v", grants, err)
	}
	h.says(0, "like git push *", "grants")
	h.end(syscall.SIGKILL)
	h.serve()
	hooktest.Until(t, "hookd is ready", h.ready)
	h.answer(hooktest.Send(t, socket, codexCall("git push --force origin", "s")), "for this session")
	h.says(0, "revoked", "grants", "revoke", ending(grants[0].ID))
	hooktest.Until(t, "the chain has a record of it", func() bool {
		out, _ := h.hookd("audit", "export")
		return strings.Contains(out, `"kind":"revoked"`)
	})
	h.end(syscall.SIGKILL)
	h.serve()
	hooktest.Until(t, "hookd is ready", h.ready)
	leave()
	h.present()
	s = hooktest.Send(t, socket, codexCall("git push --force origin", "s"))
	h.says(0, "denied: Bash: git push --force origin", "deny-ask", h.heldAsk("git push --force origin").ID,
		"--message", "not now")
	h.answer(s, `"message":"denied by`)
	h.says(0, "not now", "decisions", "--deny")
}

// An answer from the agent's own processes does not count, is refused and recorded.
func TestAskAnsweredByItsOwnAgent(t *testing.T) {
	t.Parallel()
	h := newAskHome(t)
	h.present()
	agent := h.command("emit", "PreToolUse", "--wait", "--dialect", "codex", "--data",
		`{"tool_name":"Bash","tool_input":{"command":"git push"}}`)
	digest := `$("$HOOKD" asks -o json | sed -n 's/.*"digest": "\(.*\)",/\1/p' | head -1)`
	script := `"$HOOKD" emit PreToolUse --wait --dialect codex --session s ` +
		`--data '{"tool_name":"Bash","tool_input":{"command":"git push"}}' & ` +
		`until "$HOOKD" allow-ask "$("$HOOKD" asks -o json | sed -n 's/.*"id": "\(.*\)",/\1/p' | head -1)" --digest "` + digest + `" 2>&1 | ` +
		`grep "does not count"; do :; done; wait`
	shell := exec.Command("/bin/sh", "-c", script)
	shell.Env = append(agent.Env, "HOOKD="+agent.Path)
	var said strings.Builder
	shell.Stdout = &said
	hooktest.Terminal(t, shell)
	hooktest.Must(t, shell.Start())
	ended := make(chan error, 1)
	go func() { ended <- shell.Wait() }()
	ask := h.heldAsk("git push")
	hooktest.Until(t, "the answer was refused", func() bool {
		return strings.Contains(h.daemon.logged(), "an answer to an ask does not count")
	})
	h.says(0, "denied", "deny-ask", ask.ID)
	<-ended
	if !strings.Contains(said.String(), "the terminal or the processes of the agent that asks") {
		t.Errorf("the agent was told %s", said.String())
	}
	list, err := h.client.Decisions(t.Context(), client.DecisionQuery{})
	if err != nil || len(list) != 1 || list[0].Answered == nil || len(list[0].Answered.Refused) == 0 {
		t.Errorf("%+v, %v", list, err)
	}
}

// A process that an agent has set apart, and that has no terminal, answers no ask of a later agent either: it is
// older than that agent, and belongs to none that lives.
func TestAskAnsweredByAProcessSetApart(t *testing.T) {
	t.Parallel()
	hooktest.NeedTool(t, "setsid")
	if runtime.GOOS != "linux" {
		t.Skip("SKIP-TOOL cgroup: the system has none")
	}
	h := newAskHome(t)
	h.present()
	script := `while [ -e "$HOOKD" ] && ! "$HOOKD" allow-ask "$("$HOOKD" asks -o json | sed -n 's/.*"id": "\(.*\)",/\1/p' | head -1)" --digest ` +
		`"$("$HOOKD" asks -o json | sed -n 's/.*"digest": "\(.*\)",/\1/p' | head -1)" 2>&1 | grep "does not count" > "$SAID"; do sleep 0.05; done`
	first := exec.Command("/bin/sh", "-c", `trap '' HUP; setsid -f sh -c "$SCRIPT" < /dev/null > /dev/null 2>&1`)
	agent := h.command()
	first.Env = append(agent.Env, "HOOKD="+hookdBinary(t, h.dir), "SCRIPT="+script, "SAID="+h.path("said"))
	hooktest.Terminal(t, first)
	hooktest.Must(t, first.Run())
	s := hooktest.Send(t, h.client.Socket(), codexCall("git push", "s"))
	ask := h.heldAsk("git push")
	hooktest.Until(t, "it has answered", func() bool {
		log := h.daemon.logged()
		return strings.Contains(log, "an answer to an ask does not count") || strings.Contains(log, "an ask was answered")
	})
	h.says(0, "denied", "deny-ask", ask.ID)
	h.answer(s, `"permission_decision":"deny"`)
	hooktest.Until(t, "it was told", func() bool {
		said, _ := os.ReadFile(h.path("said"))
		return strings.Contains(string(said), "has no terminal")
	})
}

// An answer that a hook gives does not count.
func TestAskAnsweredByAHook(t *testing.T) {
	t.Parallel()
	h := newAskHome(t)
	h.write("hooks/robot/HOOK.yaml", "name: robot\nevents: hookd:ask\ntype: script\nscript: |\n"+
		`  exec "$HOOKD" allow-ask $(sed -n 's/.*"allow":"hookd ask allow \([^"]*\)".*/\1/p')`+
		"\nenv: {HOOKD: "+hookdBinary(t, h.dir)+", LIBREFANG_HOME: "+h.dir+"}\n")
	if out, code := h.hookd("reload"); code != 0 {
		t.Fatal(out)
	}
	s := hooktest.Send(t, h.client.Socket(), codexCall("git push", "s")) // the hook is an approver
	ask := h.heldAsk("git push")
	hooktest.Until(t, "the answer was refused", func() bool {
		return strings.Contains(h.daemon.logged(), "it comes from a process that a hook has started")
	})
	h.says(0, "denied", "deny-ask", ask.ID)
	h.answer(s, `"allowed":false`)
}

// The inbox on a real terminal: it shows the waiting ask, a key answers the ask, q ends the inbox.
func TestAsksInbox(t *testing.T) {
	t.Parallel()
	h := newAskHome(t)
	cmd := h.command("asks")
	cmd.Env = append(cmd.Env, "TERM=xterm")
	screen := hooktest.Terminal(t, cmd)
	hooktest.Must(t, cmd.Start())
	var mu sync.Mutex
	var shown strings.Builder
	go func() {
		buf := make([]byte, 4096)
		for {
			n, err := screen.Read(buf)
			mu.Lock()
			shown.Write(buf[:n])
			mu.Unlock()
			if err != nil {
				return
			}
		}
	}()
	sees := func(want string) {
		t.Helper()
		hooktest.Until(t, "the inbox shows "+want, func() bool {
			mu.Lock()
			defer mu.Unlock()
			return strings.Contains(shown.String(), want)
		})
	}
	sees("No call waits for an answer")
	long := "git push " + strings.Repeat("x", 2000) + " the-end"
	s := hooktest.Send(t, h.client.Socket(), codexCall(long, "s"))
	sees("push: a push")
	sees("characters left out")
	press := func(key string) {
		t.Helper()
		_, err := screen.WriteString(key)
		hooktest.Must(t, err)
	}
	granted := func() int {
		grants, err := h.client.Grants(t.Context())
		hooktest.Must(t, err)
		return len(grants)
	}
	// A part of the call was not on the screen yet: no key allows it.
	sees("allow: 0 of ")

	press("s")
	sees("it cannot be allowed yet")
	press("\r")
	hooktest.Until(t, "the whole call was on the screen", func() bool {
		press(" ") // a page further; at the end it does nothing
		mu.Lock()
		defer mu.Unlock()
		return strings.Contains(shown.String(), "a allow   s session")
	})
	for granted() == 0 {
		now := time.Now()
		hooktest.Until(t, "the screen has stood for a while", func() bool { return time.Since(now) > 2*shutTime })
		press("s")
		hooktest.Until(t, "the key is answered", func() bool { return granted() > 0 || time.Since(now) > 4*shutTime })
	}
	h.answer(s, `"permission_decision":"allow"`)
	_, err := screen.WriteString("q")
	hooktest.Must(t, err)
	if err := cmd.Wait(); err != nil {
		t.Errorf("the inbox ended with %v", err)
	}

	sees("\x1b[?1049l")
	hooktest.Until(t, "no approver is present any more", func() bool {
		list, err := h.client.Asks(t.Context())
		return err == nil && list.Approvers == 0
	})
}

// SIGTERM gives each agent its own way at once, and says so.
func TestStopEndsAsks(t *testing.T) {
	t.Parallel()
	h := newAskHome(t)
	h.present()
	s := hooktest.Send(t, h.client.Socket(), codexCall("git push", "s"))
	h.heldAsk("git push")
	h.end(syscall.SIGTERM)
	h.answer(s, "hookd stopped before an answer came")
	h.serve()
	hooktest.Until(t, "hookd is ready", h.ready)
	h.says(0, "hookd ended before an answer came", "decisions", "-o", "wide")
}

// An agent that has ended leaves no ask behind.
func TestAnAgentThatEnds(t *testing.T) {
	t.Parallel()
	h := newAskHome(t)
	h.present()
	s := hooktest.Send(t, h.client.Socket(), codexCall("git push", "s"))
	ask := h.heldAsk("git push")
	s.Kill()
	hooktest.Until(t, "the ask has ended", func() bool {
		list, err := h.client.Asks(t.Context())
		return err == nil && len(list.Asks) == 0
	})
	_, err := h.client.AnswerAsk(t.Context(), ask.ID, client.AskReply{Answer: client.OutcomeAllow})
	var refused *client.Error
	if !errors.As(err, &refused) || refused.Code != client.CodeAnswered {
		t.Errorf("an answer to it: %v", err)
	}
}

// Agents that can ask are held when their command line says that no person is there, and asked nothing
// else. Without an approver the record says how they treat an ask: as a denial.
func TestAgentsThatRunAlone(t *testing.T) {
	t.Parallel()
	h := newAskHome(t)
	agent := h.path("agent.sh")
	h.write("agent.sh", `printf '%s' "$PAYLOAD" | "$HOOKD" bridge "$AGENT" "$EVENT"`+"\n")
	start := func(name, event, payload string, args ...string) (told func() string) {
		cmd := exec.Command("sh", append([]string{agent}, args...)...)
		cmd.Env = append(h.command().Env, "HOOKD="+hookdBinary(t, h.dir), "AGENT="+name, "EVENT="+event, "PAYLOAD="+payload)
		var out strings.Builder
		cmd.Stdout = &out
		hooktest.Terminal(t, cmd)
		hooktest.Must(t, cmd.Start())
		return func() string {
			hooktest.Must(t, cmd.Wait())
			return out.String()
		}
	}
	for _, one := range []struct{ agent, event, payload, command, asks string }{
		{"gemini-cli", "BeforeTool", `"tool_name":"run_shell_command","tool_input":`, "git push gemini", `"decision":"ask"`},
		{"qwen-code", "PreToolUse", `"tool_name":"run_shell_command","tool_input":`, "git push qwen", `"permissionDecision":"ask"`},
		{"copilot", "preToolUse", `"toolName":"bash","toolArgs":`, "git push copilot", `"permissionDecision":"ask"`},
	} {
		payload := fmt.Sprintf(`{"session_id":"s","cwd":"/p",%s{"command":%q}}`, one.payload, one.command)
		begin := func(args ...string) func() string { return start(one.agent, one.event, payload, args...) }
		asks := func(want client.Outcome, args ...string) {
			t.Helper()
			if told := begin(args...)(); !strings.Contains(told, one.asks) {
				t.Errorf("%s %v is told %s", one.agent, args, told)
			}
			hooktest.Until(t, fmt.Sprintf("%s %v: %s is on record", one.agent, args, want), func() bool {
				all, err := h.client.Decisions(t.Context(), client.DecisionQuery{Text: one.command, Limit: 1})
				return err == nil && len(all) == 1 && all[0].Decision == want
			})
		}
		asks(client.OutcomeAsk, "-i", "p")
		asks(client.OutcomeDeny, "-p", "push it")
		leave := h.present()
		asks(client.OutcomeAsk, "-i", "p")
		told := begin("-p", "push it")
		ask := h.heldAsk(one.command)
		_, err := h.client.AnswerAsk(t.Context(), ask.ID, client.AskReply{Answer: client.OutcomeDeny, Message: "not now"})
		hooktest.Must(t, err)
		if got := told(); !strings.Contains(got, "not now") {
			t.Errorf("%s is told %s", one.agent, got)
		}
		leave()
	}
}
