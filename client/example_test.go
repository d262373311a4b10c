package client_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/hookd/hookd/client"
	"github.com/hookd/hookd/internal/base/config"
	"github.com/hookd/hookd/internal/daemon"
)

// daemonWith runs a hookd whose hooks are the given HOOK.yaml files.
func daemonWith(hooks ...string) (socket string, stop func()) {
	home, err := os.MkdirTemp("/tmp", "hk")
	check(err)
	for i, text := range hooks {
		dir := filepath.Join(home, "hooks", fmt.Sprint("hook", i))
		check(os.MkdirAll(dir, 0o700))
		check(os.WriteFile(filepath.Join(dir, "HOOK.yaml"), []byte(text), 0o600))
	}
	c := config.Default(home)
	c.FireStartup = false
	d, err := daemon.New(daemon.Options{Config: c, Version: "test"})
	check(err)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- d.Run(ctx) }()
	return c.Socket, func() {
		cancel()
		check(<-ended)
		check(os.RemoveAll(home))
	}
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}

const noSudo = `{name: no-sudo, events: pre_tool_use, type: script, timeout: 1m,
  script: 'if grep -q sudo; then echo "no sudo here" >&2; exit 2; fi'}`

// Telling that something has happened: the answer comes as soon as hookd has
// it, whatever the hooks do.
func ExampleClient_Emit() {
	socket, stop := daemonWith(`{name: log, events: "agent:*", type: script, script: ":"}`)
	defer stop()

	c := client.New(client.Options{Socket: socket}) // without a socket: the user's own daemon
	answer, err := c.Emit(context.Background(), client.Event{
		Event: "agent:end",
		Data:  json.RawMessage(`{"agent_id":"a1","status":"ok"}`),
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(answer.Matched)
	// Output: [log]
}

// Asking before a tool is called. Without a verdict, the agent decides; here, as for a
// guard, the answer is no.
func ExampleClient_Decide() {
	socket, stop := daemonWith(noSudo)
	defer stop()

	c := client.New(client.Options{Socket: socket})
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	for _, command := range []string{"ls", "sudo ls"} {
		call, _ := json.Marshal(map[string]any{"tool_name": "shell", "tool_input": map[string]string{"cmd": command}})
		verdict, err := c.Decide(ctx, client.Event{Event: "pre_tool_use", Dialect: "docker-agent", Data: call})
		switch {
		case err != nil:
			fmt.Println("not called:", err)
		case !verdict.Allowed:
			fmt.Println("denied:", verdict.Message)
		case verdict.PermissionDecision == "ask":
			fmt.Println("ask the user:", verdict.DecisionReason)
		default:
			fmt.Println("call it")
		}
	}
	// Output:
	// call it
	// denied: no sudo here
}

// Many events over one connection; a refused one does not stop the others.
func ExampleClient_EmitAll() {
	socket, stop := daemonWith()
	defer stop()

	c := client.New(client.Options{Socket: socket})
	replies, err := c.EmitAll(context.Background(), []client.Event{
		{Event: "my-app:started", ID: "1"},
		{Event: "not a name", ID: "2"},
		{Event: "my-app:deployed", ID: "3"},
	})
	if err != nil {
		fmt.Println(err) // those without an answer can be sent again, by their IDs
	}
	for _, r := range replies {
		var refused *client.Error
		if errors.As(r.Err, &refused) {
			fmt.Println(refused.Code, refused.Message)
			continue
		}
		fmt.Println("accepted as", r.Answer.Seq)
	}
	// Output:
	// accepted as 1
	// bad_event_name event name "not a name" has a blank
	// accepted as 2
}

// Following events and runs, through restarts of the daemon.
func ExampleClient_Subscribe() {
	socket, stop := daemonWith(noSudo)
	defer stop()

	c := client.New(client.Options{Socket: socket, Timeout: time.Minute})
	ctx := context.Background()
	_, err := c.EmitWait(ctx, client.Event{Event: "pre_tool_use", Data: json.RawMessage(`{"tool_name":"shell"}`)})
	check(err)

	beginning := uint64(0)
	for record, err := range c.Subscribe(ctx, client.SubscribeOptions{Match: []string{"pre_tool_use"}, Since: &beginning}) {
		if err != nil {
			fmt.Println(err)
			return
		}
		switch record.Type {
		case client.RecordEvent:
			fmt.Println("event", record.Event.Event)
		case client.RecordRun:
			fmt.Println("run of", record.Run.Hook, record.Run.Result)
			return // keep record.Seq and record.Epoch to go on here later
		case client.RecordGap:
			fmt.Println("missed up to", record.Seq)
		}
	}
	// Output:
	// event pre_tool_use
	// run of no-sudo ok
}

// The runs of hooks, looked up later.
func ExampleClient_Runs() {
	socket, stop := daemonWith(`{name: hello, events: my-app:started, type: script, script: echo hello}`)
	defer stop()

	c := client.New(client.Options{Socket: socket})
	ctx := context.Background()
	_, err := c.EmitWait(ctx, client.Event{Event: "my-app:started"})
	check(err)
	runs, err := c.Runs(ctx, client.RunQuery{Hook: "hello", Since: time.Now().Add(-time.Hour)})
	check(err)
	run, err := c.Run(ctx, runs[0].ID)
	check(err)
	fmt.Print(run.Event, " ", run.Result, " ", run.Stdout.Head)
	// Output: my-app:started ok hello
}

func ExampleRetryable() {
	c := client.New(client.Options{Socket: "/nowhere/hookd.sock"})
	_, err := c.Emit(context.Background(), client.Event{Event: "agent:end", ID: "run-17"})
	fmt.Println(err)
	fmt.Println(client.Retryable(err))
	// Output:
	// hookd is not running (socket /nowhere/hookd.sock)
	// true
}
