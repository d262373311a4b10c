package box

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/pem"
	"fmt"
	"net"
	"net/http"
	"net/http/cgi"
	"net/http/httptest"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hookd/hookd/internal/base/hooktest"
	"github.com/hookd/hookd/internal/run/proxy"
)

// registry is a server of packages and of git that a box reaches by name alone, over TLS. Its
// certificate is for example.com, which the proxy of the tests resolves to this machine.
type registry struct{ host, ca string }

// toRegistry is the proxy of a box in tests: $WAY lists its hosts.
func toRegistry() *proxy.Proxy {
	return &proxy.Proxy{Hosts: strings.Fields(os.Getenv("WAY")), Lookup: func(context.Context, string) ([]netip.Addr, error) {
		return []netip.Addr{netip.MustParseAddr("127.0.0.1")}, nil
	}}
}

func newRegistry(t *testing.T, s *scene) *registry {
	t.Helper()
	repo := filepath.Join(s.home, "git")
	mux := http.NewServeMux()
	server := httptest.NewTLSServer(mux)
	t.Cleanup(server.Close)
	_, port, _ := net.SplitHostPort(server.Listener.Addr().String())
	r := &registry{host: "example.com:" + port, ca: filepath.Join(s.home, "ca.pem")}
	cert := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	if err := os.WriteFile(r.ca, cert, 0o644); err != nil {
		t.Fatal(err)
	}
	serve := func(path string, content []byte) {
		mux.HandleFunc(path, func(w http.ResponseWriter, _ *http.Request) { w.Write(content) })
	}
	url := "https://" + r.host

	npm := packed(t, "package/package.json", `{"name":"one","version":"1.0.0","main":"index.js"}`, "package/index.js", "module.exports = 1")
	serve("/npm/one/-/one-1.0.0.tgz", npm)
	serve("/npm/one", []byte(`{"name":"one","dist-tags":{"latest":"1.0.0"},"versions":{"1.0.0":{"name":"one","version":"1.0.0",
		"dist":{"tarball":"`+url+`/npm/one/-/one-1.0.0.tgz"}}}}`))

	wheel := zipped(t, "one.py", "n = 1\n", "one-1.0.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: one\nVersion: 1.0.0\n",
		"one-1.0.0.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n", "one-1.0.0.dist-info/RECORD", "")
	serve("/pip/one/", []byte(`<a href="/pip/one-1.0.0-py3-none-any.whl">one-1.0.0-py3-none-any.whl</a>`))
	serve("/pip/one-1.0.0-py3-none-any.whl", wheel)

	serve("/go/example.org/one/@v/list", []byte("v1.0.0\n"))
	serve("/go/example.org/one/@v/v1.0.0.info", []byte(`{"Version":"v1.0.0"}`))
	serve("/go/example.org/one/@v/v1.0.0.mod", []byte("module example.org/one\n"))
	serve("/go/example.org/one/@v/v1.0.0.zip", zipped(t, "example.org/one@v1.0.0/go.mod", "module example.org/one\n",
		"example.org/one@v1.0.0/one.go", "package one\n\nconst N = 1\n"))

	crate := packed(t, "one-1.0.0/Cargo.toml", "[package]\nname = \"one\"\nversion = \"1.0.0\"\nedition = \"2021\"\n",
		"one-1.0.0/src/lib.rs", "pub const N: i32 = 1;\n")
	serve("/cargo/config.json", []byte(`{"dl":"`+url+`/cargo/dl"}`))
	serve("/cargo/3/o/one", fmt.Appendf(nil, `{"name":"one","vers":"1.0.0","deps":[],"cksum":"%x","features":{},"yanked":false}`+"\n",
		sha256.Sum256(crate)))
	serve("/cargo/dl/one/1.0.0/download", crate)

	git, err := exec.Command("git", "--exec-path").Output()
	if err != nil {
		t.Skip("there is no git")
	}
	if b := s.bare(t, `git init -q --bare ../git/a.git && git -C ../git/a.git config http.receivepack true &&
		git clone -q ../git/a.git ../c && cd ../c && echo x > x && git add x && git commit -qm x && git push -q origin HEAD`); b.exit != 0 {
		t.Fatalf("make a repository: %+v", b)
	}
	mux.Handle("/git/", &cgi.Handler{
		Path: filepath.Join(strings.TrimSpace(string(git)), "git-http-backend"), Root: "/git",
		Env: []string{"GIT_PROJECT_ROOT=" + repo, "GIT_HTTP_EXPORT_ALL=1", "REMOTE_USER=a", "HOME=" + s.home},
	})
	serve("/", []byte("here"))
	s.env = append(s.env, "WAY="+r.host+" 127.0.0.1:"+port, "PIP_RETRIES=0", "URL="+url, "CURL_CA_BUNDLE="+r.ca, "GIT_SSL_CAINFO="+r.ca, "SSL_CERT_FILE="+r.ca,
		"NODE_EXTRA_CA_CERTS="+r.ca, "PIP_CERT="+r.ca, "REQUESTS_CA_BUNDLE="+r.ca, "CARGO_HTTP_CAINFO="+r.ca, "npm_config_registry="+url+"/npm/",
		"npm_config_cafile="+r.ca, "npm_config_fetch_retries=0", "npm_config_audit=false", "npm_config_update_notifier=false", "PIP_INDEX_URL="+url+"/pip", "PIP_DISABLE_PIP_VERSION_CHECK=1",
		"GOPROXY="+url+"/go", "GOSUMDB=off", "GOTOOLCHAIN=local", "GOFLAGS=-mod=mod -buildvcs=false", "GOPATH=",
		"CARGO_REGISTRIES_LOCAL_INDEX=sparse+"+url+"/cargo/", "CARGO_NET_RETRY=0")
	return r
}

// packed is a .tgz of files: names and their contents in turn.
func packed(t *testing.T, files ...string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	for i := 0; i < len(files); i += 2 {
		if err := w.WriteHeader(&tar.Header{Name: files[i], Mode: 0o644, Size: int64(len(files[i+1]))}); err != nil {
			t.Fatal(err)
		}
		fmt.Fprint(w, files[i+1])
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func zipped(t *testing.T, files ...string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for i := 0; i < len(files); i += 2 {
		f, err := w.Create(files[i])
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprint(f, files[i+1])
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// ways are lines that reach the registry from a box, and succeed.
var ways = []struct{ name, needs, line string }{
	{"curl", "curl", `curl -sSf "$URL/" | grep -qx here`},
	{"curl by SOCKS", "curl", `curl -sSf -x "$ALL_PROXY" "$URL/" | grep -qx here`},
	{"wget", "wget", `wget -q --ca-certificate="$CURL_CA_BUNDLE" -O - "$URL/" | grep -qx here`},
	{"node's fetch", "node --use-env-proxy", `node -e 'fetch(process.env.URL).then(r => r.text()).then(t => process.exit(t === "here" ? 0 : 1))'`},
	{"python's urllib", "python3", `python3 -c 'import os, urllib.request as u; assert u.urlopen(os.environ["URL"]).read() == b"here"'`},
	{"git clone", "git", `git clone -q "$URL/git/a.git" sub && cat sub/x`},
	{"git fetch and push", "git", `git clone -q "$URL/git/a.git" /tmp/sub && cd /tmp/sub && git fetch -q && echo y > y &&
		git add y && git commit -qm y && git push -q origin HEAD`},
	{"npm install", "npm", `echo '{"name":"a","version":"1.0.0"}' > package.json && npm install --loglevel=http one && node -e 'process.exit(require("one") - 1)'`},
	{"npm ci", "npm", `echo '{"name":"a","version":"1.0.0","dependencies":{"one":"1"}}' > package.json && npm install --silent &&
		rm -r node_modules && npm ci --silent && ls node_modules/one`},
	{"pip install", "python3 -m pip", `py=$(python3 -c 'import sys; print(sys.executable)') # python3 may be a script that writes into the home
		$py -m pip install -q --target v one && PYTHONPATH=v $py -c 'import one'`},
	{"go get", "go", `printf 'module a\n\ngo 1.21\n' > go.mod && go get example.org/one@v1.0.0 && go mod download &&
		printf 'package a\n\nimport _ "example.org/one"\n' > a.go && go list ./...`},
	{"cargo build", "cargo", `mkdir -p rs/src && cd rs && printf '[package]\nname="a"\nversion="1.0.0"\nedition="2021"\n[dependencies]\n` +
		`one={version="1",registry="local"}\n' > Cargo.toml && echo 'fn main() { assert!(one::N == 1) }' > src/main.rs && cargo run -q && cargo test -q`},
}

func TestWaysOutOfTheNetwork(t *testing.T) {
	hooktest.Outside(t)
	newScene(t).can(t, Namespaces)
	for _, w := range ways {
		t.Run(w.name, func(t *testing.T) {
			if slices.Contains([]string{"cargo build", "go get", "pip install", "npm ci", "git clone"}, w.name) {
				hooktest.Long(t) // it compiles, makes an environment, or is a second line of the same program
			}
			s := newScene(t)
			s.toolchains()
			if r := s.bare(t, w.needs+" --version || "+w.needs+" version"); r.exit != 0 {
				t.Skipf("there is no %s: %s", w.needs, r.err)
			}
			newRegistry(t, s)
			if r := s.boxed(t, ProjectNet, Namespaces, w.line); strings.Contains(r.err, "-Z sparse-registry") {
				t.Skip("this cargo knows no registry over HTTPS alone")
			} else if r.exit != 0 {
				t.Fatalf("exit code %d\n%s%s", r.exit, r.out, r.err)
			}
			s.env = append(s.env, "WAY=") // the same with nothing on the list
			os.RemoveAll(s.project)
			if err := os.MkdirAll(filepath.Join(s.project, ".git"), 0o755); err != nil {
				t.Fatal(err)
			}
			for _, cache := range []string{".cache", ".npm", ".cargo", "go"} {
				s.bare(t, "chmod -R u+w ~/"+cache+"; rm -rf ~/"+cache)
			}
			if r := s.boxed(t, ProjectNet, Namespaces, w.line); r.exit == 0 {
				t.Errorf("it reached a host off the list: %+v", r)
			}
		})
	}
}

// toolchains has programs found that lie below the user's own home.
func (s *scene) toolchains() {
	home, _ := os.UserHomeDir()
	for name, dir := range map[string]string{"RUSTUP_HOME": ".rustup", "PYENV_ROOT": ".pyenv"} {
		if os.Getenv(name) == "" {
			s.env = append(s.env, name+"="+filepath.Join(home, dir))
		}
	}
}

// kept are lines that print REACHED, or reach a service of the host, where the proxy or the box's network fails.
var kept = []struct{ name, line string }{
	{"a host off the list", `curl -sSf "https://other.test:${URL##*:}/" && echo REACHED`},
	{"a port off the list", `curl -sS http://example.com:$TCP/`},
	{"this machine by a name", `curl -sS http://example.com:$TCP/; curl -sS -x "$ALL_PROXY" http://example.com:$TCP/`},
	{"this machine by address", `NO_PROXY= no_proxy= curl -sS http://127.0.0.1:$TCP/`},
	{"this machine by address and SOCKS", `NO_PROXY= no_proxy= curl -sS -x socks5://127.0.0.1:17871 http://127.0.0.1:$TCP/`},
	{"this machine without the proxy", `curl -sS --noproxy '*' http://127.0.0.1:$TCP/`},
	{"this machine by IPv6", `NO_PROXY= no_proxy= curl -sS "http://[::ffff:127.0.0.1]:$TCP/"`},
	{"the host without the proxy", `curl -sSfk --noproxy '*' --resolve "${URL#https://}:127.0.0.1" "$URL/" && echo REACHED`},
	{"UDP", `echo x > /dev/udp/127.0.0.1/$UDP`},
	{"mail", `curl -sS telnet://example.com:25 < /dev/null && echo REACHED`},
	{"another proxy", `HTTPS_PROXY=http://127.0.0.1:$TCP curl -sS https://other.test/`},
	{"names", `getent hosts example.org && echo REACHED`},
}

func TestWhatAWayKeeps(t *testing.T) {
	newScene(t).can(t, Namespaces)
	if _, err := exec.LookPath("curl"); err != nil {
		t.Skip(err)
	}
	for _, k := range kept {
		t.Run(k.name, func(t *testing.T) {
			s := newScene(t)
			newRegistry(t, s)
			s.listen(t)
			if r := s.boxed(t, ProjectNet, Namespaces, k.line); s.reached(r, "") || r.exit == exitFailed {
				t.Errorf("it reached: %+v", r)
			}
		})
	}
}

// Each of the attacks on a project is kept out in a box with a network, too: without HOOKTEST_ALL each fourth.
func TestAttacksInABoxWithANetwork(t *testing.T) {
	newScene(t).can(t, Namespaces)
	for i, a := range attacks {
		if i%4 != 0 && !hooktest.All() {
			continue
		}
		s := newScene(t)
		s.listen(t)
		s.env = append(s.env, "WAY=example.com")
		if r := s.boxed(t, ProjectNet, Namespaces, a.line); s.reached(r, a.later) || r.exit == exitFailed {
			t.Errorf("%s: it reached: %+v", a.name, r)
		}
	}
}

// No weaker box is taken where the profile wants a network.
func TestNoWayWithoutNamespaces(t *testing.T) {
	s := newScene(t)
	if r := s.boxed(t, ProjectNet, Landlock, "echo REACHED"); r.exit != exitFailed || strings.Contains(r.out, reached) {
		t.Errorf("it ran: %+v", r)
	}
}

// The proxy of another machine is no help in a box, and its password stays outside.
func TestOtherProxiesStayOutside(t *testing.T) {
	s := newScene(t)
	s.can(t, Namespaces)
	s.env = append(s.env, "HTTPS_PROXY=http://user:word@10.0.0.1:8080", "npm_config_https_proxy=http://user:word@10.0.0.1:8080")
	for _, profile := range []string{Read, Project, ProjectNet} {
		if r := s.boxed(t, profile, Namespaces, "env | grep -c user:word"); strings.TrimSpace(r.out) != "0" {
			t.Errorf("%s: %+v", profile, r)
		}
	}
}
