"""Attacks on asks and guards, in a pid namespace of its own, where this is the first process.

    identity.py BIN HOME ROUNDS

It runs hookd, has agents ask, and answers as processes that no person is. It prints one
line of JSON: how many answers were tried, and how many counted.
"""
import array, json, os, signal, socket, subprocess, sys, time

bin_, home, rounds = sys.argv[1], sys.argv[2], int(sys.argv[3])
path = os.path.join(home, "hookd.sock")
env = dict(os.environ, LIBREFANG_HOME=home, HOME=home, PATH=bin_ + ":" + os.environ["PATH"])
counts = {}


def count(kind, counted):
    tried, taken = counts.get(kind, (0, 0))
    counts[kind] = (tried + 1, taken + (1 if counted else 0))


def until(what, cond):
    end = time.monotonic() + 60
    while True:
        value = cond()
        if value:
            return value
        if time.monotonic() > end:
            sys.exit("never: " + what)
        time.sleep(0.005)


def connect():
    s = socket.socket(socket.AF_UNIX)
    s.connect(path)
    return s


def request(s, method, route, body=None):
    text = json.dumps(body).encode() if body is not None else b""
    s.sendall(b"%s %s HTTP/1.1\r\nHost: hookd\r\nContent-Type: application/json\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s"
              % (method.encode(), route.encode(), len(text), text))
    got = b""
    while True:
        part = s.recv(65536)
        if not part:
            break
        got += part
    head, _, body = got.partition(b"\r\n\r\n")
    return int(head.split()[1]), json.loads(body or b"{}")


def ready():
    try:
        return request(connect(), "GET", "/readyz")[0] == 200
    except OSError:
        return False


def held():
    return request(connect(), "GET", "/v1/asks")[1]["asks"]


def present():
    """An approver: without one no ask is held."""
    s = connect()
    s.sendall(b"GET /v1/asks?follow=1&answers=1 HTTP/1.1\r\nHost: hookd\r\n\r\n")
    until("an approver", lambda: request(connect(), "GET", "/v1/asks")[1]["approvers"])
    return s


def child(do, *args):
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            do(*args)
            code = 0
        finally:
            os._exit(code)
    return pid


EVENT = {"event": "PreToolUse", "dialect": "codex", "session_id": "s", "cwd": "/tmp", "wait": True,
         "data": {"tool_name": "Bash", "tool_input": {"command": "git push"}}}


def ask():
    """The process that asks, and waits."""
    s = connect()
    s.sendall(json.dumps(EVENT).encode() + b"\n")
    s.recv(65536)


def taken_number(number):
    """An innocent process with that number."""
    for _ in range(1000):
        with open("/proc/sys/kernel/ns_last_pid", "w") as f:
            f.write(str(number - 1))
        pid = child(lambda: signal.pause())
        if pid == number:
            return pid
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
    sys.exit("the number was never given again")


def hold(give):
    """Connects in a process that ends, and keeps the connection."""
    s = connect()
    socket.send_fds(give, [b"x"], [s.fileno()])


def agent(orders, results):
    os.setsid()
    asker = child(ask)
    give, take = socket.socketpair()
    first = child(hold, give)
    _, fds, _, _ = socket.recv_fds(take, 1, 1)
    os.waitpid(first, 0)
    os.write(results, (json.dumps(first) + "\n").encode())
    order = json.loads(orders.readline())
    s = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM, fileno=fds[0])
    status, answer = request(s, "POST", "/v1/asks/" + order, {"answer": "allow"})
    os.write(results, (json.dumps([status, answer]) + "\n").encode())
    orders.readline()
    os.kill(asker, signal.SIGKILL)
    os.waitpid(asker, 0)


def reuse():
    """The number of the process that connected is an innocent one's when the answer comes."""
    orders_r, orders_w = os.pipe()
    results_r, results_w = os.pipe()
    running = child(agent, os.fdopen(orders_r), results_w)
    results = os.fdopen(results_r)
    number = json.loads(results.readline())
    innocent = taken_number(number)
    ask_id = until("an ask", held)[0]["id"]
    os.write(orders_w, (json.dumps(ask_id) + "\n").encode())
    status, answer = json.loads(results.readline())
    now = request(connect(), "GET", "/v1/asks/" + ask_id)[1]
    count("reuse", status == 200 or now.get("answered"))
    for one in now.get("refused") or []:
        if one["from"].get("program"):
            count("innocent named", True)
    os.write(orders_w, b"\n")
    os.close(orders_w)
    os.waitpid(running, 0)
    os.kill(innocent, signal.SIGKILL)
    os.waitpid(innocent, 0)
    until("no ask", lambda: not held())


def orphan(kind):
    """A process of a run that left its run, its session and its parents answers."""
    out = os.path.join(home, "orphan.out")
    if os.path.exists(out):
        os.remove(out)
    asker = child(lambda: (os.setsid(), ask()))
    ask_id = until("an ask", held)[0]["id"]
    with open(os.path.join(home, "ask.id"), "w") as f:
        f.write(ask_id)
    s = connect()
    s.sendall(b'{"event":"agent:end","data":{}}\n')
    s.recv(65536)
    until("the orphan has answered", lambda: os.path.exists(out) and "code" in open(out).read())
    now = request(connect(), "GET", "/v1/asks/" + ask_id)[1]
    count(kind, "code 0" in open(out).read() or now.get("answered"))
    os.kill(asker, signal.SIGKILL)
    os.waitpid(asker, 0)
    until("no ask", lambda: not held())


def serve(cgroup):
    log = open(os.path.join(home, "log"), "ab")
    daemon = subprocess.Popen([os.path.join(bin_, "hookd"), "serve"], env=dict(env, HOOKD_CGROUP=cgroup), stdout=log, stderr=log)
    until("hookd is ready", lambda: os.path.exists(path) and ready())
    return daemon


def zombies(parent):
    n = 0
    for name in os.listdir("/proc"):
        try:
            stat = open("/proc/%s/stat" % name).read().rpartition(")")[2].split()
        except (OSError, ValueError):
            continue
        if name.isdigit() and stat[0] == "Z" and int(stat[1]) == parent:
            n += 1
    return n


for cgroup in "true", "false":
    daemon = serve(cgroup)
    approver = present()
    for _ in range(rounds):
        reuse()
    for _ in range(rounds):
        orphan("orphan, cgroup " + cgroup)
    until("orphans are reaped", lambda: zombies(daemon.pid) == 0)
    approver.close()
    daemon.terminate()
    daemon.wait()
print(json.dumps(counts))
