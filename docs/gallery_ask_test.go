package docs

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hookd/hookd/client"
	"github.com/hookd/hookd/internal/base/hooktest"
)

// ask-slack tells about the waiting ask, with the command to type, and changes that message when
// the ask has ended. The hook is the approver: no client follows.
func TestAskSlack(t *testing.T) {
	hooktest.NeedTool(t, "python3")
	type post struct{ path, token, channel, ts, text string }
	posts := make(chan post, 10)
	slack := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var body struct {
			Channel, TS, Text string
			Blocks            []struct {
				Elements []struct{ Elements []struct{ Text string } }
			}
		}
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
			t.Errorf("%s: %v", r.URL.Path, err)
		}
		p := post{r.URL.Path, r.Header.Get("Authorization"), body.Channel, body.TS, ""}
		for _, block := range body.Blocks {
			for _, e := range block.Elements {
				for _, one := range e.Elements {
					p.text += one.Text + "\n"
				}
			}
		}
		posts <- p
		w.Header().Set("Content-Type", "application/json")
		if _, err := w.Write([]byte(`{"ok":true,"channel":"C1","ts":"1700000000.000100"}`)); err != nil {
			t.Error(err)
		}
	}))
	defer slack.Close()
	home := newHome(t)
	dir := install(t, home, "ask-slack",
		map[string]string{"SLACK_TOKEN": "xoxb-1", "SLACK_CHANNEL": "#asks", "SLACK_API": slack.URL + "/api"})
	hooktest.Write(t, filepath.Join(home, "hooks", "push", "HOOK.yaml"), "name: push\nevents: PreToolUse\ntype: script\n"+
		"script: |\n  echo '{\"hookSpecificOutput\":{\"permissionDecision\":\"ask\",\"permissionDecisionReason\":\"<!channel>\"}}'\n", 0o644)
	h := start(t, home)
	for _, answer := range []client.Outcome{client.OutcomeAllow, client.OutcomeDeny} {
		sender := hooktest.Send(t, h.client.Socket(), `{"event":"PreToolUse","dialect":"codex","session_id":"s","cwd":"/p",`+
			`"wait":true,"data":{"tool_name":"Bash","tool_input":{"command":"git push --force"}}}`)
		told := <-posts
		list, err := h.client.Asks(t.Context())
		if err != nil || len(list.Asks) != 1 || !list.Hooked {
			t.Fatalf("%+v, %v", list, err)
		}
		id, digest := list.Asks[0].ID, list.Asks[0].Card.Digest
		if told.path != "/api/chat.postMessage" || told.token != "Bearer xoxb-1" || told.channel != "#asks" ||
			!strings.Contains(told.text, "hookd ask allow "+id+" --digest "+digest+"\nhookd ask deny "+id) ||
			!strings.Contains(told.text, "git push --force") {
			t.Errorf("the ask was told as %+v", told)
		}
		hooktest.Until(t, "the message is known", func() bool {
			_, err := os.Stat(filepath.Join(dir, "messages", id))
			return err == nil
		})
		if _, err := h.client.AnswerAsk(t.Context(), id, client.AskReply{Answer: answer, Digest: digest}); err != nil {
			t.Fatal(err)
		}
		ended := <-posts
		if ended.path != "/api/chat.update" || ended.channel != "C1" || ended.ts != "1700000000.000100" ||
			!strings.Contains(ended.text, string(answer)+" by ") || strings.Contains(ended.text, "allow-ask") {
			t.Errorf("the end was told as %+v", ended)
		}
		if _, err := sender.Answer(); err != nil {
			t.Error(err)
		}
		hooktest.Until(t, "the message is forgotten", func() bool {
			_, err := os.Stat(filepath.Join(dir, "messages", id))
			return os.IsNotExist(err)
		})
	}
}
