package bridge

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"syscall"

	"github.com/hookd/hookd/client"
	"github.com/hookd/hookd/internal/run/box"
	"github.com/hookd/hookd/internal/run/proxy"
	"github.com/hookd/hookd/wire"
)

// PlanBox plans the box that the bridge with the process pid has asked for, for package early. The caller sends the
// reply with the files, and closes them. False = the box is left to the bridge, and no ticket is claimed.
func PlanBox(h wire.Handed, pid int, k BoxKeeper) (reply []byte, files [2]int, ok bool) {
	a, err := boxArgs(h.Args[1:])
	if err != nil || a.level == box.Namespaces || a.level == "" && !k.Weak() || !sameView(pid) {
		return nil, files, false
	}
	cwd := workingDirectory(pid, h.Env)
	var begun wire.BoxBegun
	if a.call != "" {
		if begun = k.Look(a.call, a.start(cwd)); !begun.Approved {
			return nil, files, false
		}
	}
	own := append(ownPaths(a.socket), k.Own...)
	spec, hosts, err := a.spec(begun, surroundings{cwd: cwd, env: h.Env, own: own})
	if err != nil || hosts != nil {
		return nil, files, false
	}
	plan, err := box.NewPlan(*spec, pid)
	if err != nil {
		return nil, files, false
	}
	rest, err := json.Marshal(plan.Rest)
	if err == nil {
		reply = wire.AppendPlanned(nil, append([]string{plan.Path, plan.Cwd}, plan.Env...), plan.Filter, rest)
	}
	if err != nil || len(reply) > wire.PlannedBytes || a.call != "" && !k.Begin(a.call, a.start(cwd)).Approved {
		for _, fd := range plan.Files {
			syscall.Close(fd)
		}
		return nil, files, false
	}
	return reply, plan.Files, true
}

// sameView reports whether a process sees the files that hookd sees: a plan names them.
func sameView(pid int) bool {
	of := func(pid, what string) string {
		to, err := os.Readlink("/proc/" + pid + what)
		if err != nil {
			return ""
		}
		return to
	}
	process := strconv.Itoa(pid)
	mounts, root := of("self", "/ns/mnt"), of("self", "/root")
	return pid > 0 && mounts != "" && root != "" && of(process, "/ns/mnt") == mounts && of(process, "/root") == root
}

// workingDirectory is that of a process, by the name that PWD has for it, as os.Getwd would have it there; "" =
// unknown.
func workingDirectory(pid int, env []string) string {
	link := fmt.Sprintf("/proc/%d/cwd", pid)
	at, err := os.Stat(link)
	if err != nil {
		return ""
	}
	if pwd := variable(env)("PWD"); filepath.IsAbs(pwd) {
		if named, err := os.Stat(pwd); err == nil && os.SameFile(named, at) {
			return pwd
		}
	}
	dir, err := os.Readlink(link)
	if err != nil {
		return ""
	}
	return dir
}

// finish ends a box that package early has begun.
func (a boxCall) finish(text []byte, b box.Begun) (exit int, err error) {
	var rest box.Rest
	if err := json.Unmarshal(text, &rest); err != nil {
		return exitNoBox, &box.RanError{Err: fmt.Errorf("the box was ended: read its plan: %w", err)}
	}
	rest.Spec.Argv, rest.Spec.Env = a.argv, os.Environ()
	end, err := box.Finish(&rest, b)
	var hookd *client.Client
	if a.call != "" {
		hookd = client.New(client.Options{Socket: a.socket})
	}
	return a.ended(hookd, end, err, &proxy.Proxy{})
}
