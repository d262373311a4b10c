package box

import (
	"slices"
	"strconv"
	"strings"
)

// proxyPort is where the proxy of a box listens on its loopback: no program asks for it by habit.
const proxyPort = 17871

// Variables that a box's program never sees: keys and tokens, and variables that would load code into it.
// Names are looked at in capitals.
var (
	notInside = []string{
		"GITHUB_TOKEN", "DATABASE_URL", "REDIS_URL", "PGPASSFILE", "KUBECONFIG", "SSH_AUTH_SOCK", "SSH_AGENT_PID",
		"GPG_AGENT_INFO", "DBUS_SESSION_BUS_ADDRESS", "DBUS_SYSTEM_BUS_ADDRESS", "XDG_RUNTIME_DIR", "XAUTHORITY", "DISPLAY",
		"WAYLAND_DISPLAY", "TMUX", "STY", "LD_PRELOAD", "LD_AUDIT", "DYLD_INSERT_LIBRARIES", "BASH_ENV", "ENV",
		"PROMPT_COMMAND", "GIT_ASKPASS", "SSH_ASKPASS",
	}
	notBegun = []string{
		"AWS_", "AZURE_", "GOOGLE_", "GCP_", "CLOUDSDK_", "ANTHROPIC_", "OPENAI_", "GEMINI_", "GH_", "GITLAB_", "NPM_CONFIG__",
		"DOCKER_", "VAULT_", "HOOKD_",
	}
	notEnded = []string{"_TOKEN", "_TOKENS", "_KEY", "_KEYS", "_PASS", "_DSN", "_PAT", "_AUTH", "_COOKIE"}
	notPart  = []string{"TOKEN_", "APIKEY", "API_KEY", "SECRET", "PASSWORD", "PASSWD", "CREDENTIAL"}
)

// tokens begin the values of keys and tokens, whatever the variable's name: the common ones. The rules for secrets in
// texts are too heavy for each start of a box.
var tokens = []string{
	"ghp_", "gho_", "ghs_", "github_pat_", "glpat-", "sk-", "sk_live_", "rk_live_", "xoxb-", "xoxp-", "AKIA", "ASIA", "AIza",
	"npm_", "pypi-", "hf_", "dop_v1_", "eyJhbGciOi", "-----BEGIN",
}

// environment is that of the program in the box, which has tmp for temporary files.
func environment(s *Spec, tmp string) (env []string) {
	for _, v := range s.Env {
		name, value, _ := strings.Cut(v, "=")
		if !secretName(name) && !secretValue(value) && !isProxy(name) {
			env = append(env, v)
		}
	}
	env = with(env, "TMPDIR", tmp)
	for _, v := range append(s.Set, [2]string{"XDG_CACHE_HOME", s.CacheHome}) {
		if v[1] != "" && value(env, v[0]) == "" {
			env = with(env, v[0], strings.Replace(v[1], "/tmp", tmp, 1))
		}
	}
	if s.Proxy != nil {
		env = throughProxy(env)
	}
	return with(env, "HOOKD_BOX", s.Profile)
}

func secretName(name string) bool {
	upper := strings.ToUpper(name)
	return slices.Contains(notInside, upper) || anyIs(strings.HasPrefix, upper, notBegun) ||
		anyIs(strings.HasSuffix, upper, notEnded) || anyIs(strings.Contains, upper, notPart) ||
		strings.HasPrefix(upper, "MONGO") && strings.HasSuffix(upper, "_URI")
}

func anyIs(is func(text, part string) bool, text string, parts []string) bool {
	for _, p := range parts {
		if is(text, p) {
			return true
		}
	}
	return false
}

// secretValue reports whether a value is a token, or an address with a password.
func secretValue(value string) bool {
	if anyIs(strings.HasPrefix, value, tokens) {
		return true
	}
	_, rest, _ := strings.Cut(value, "://")
	at := strings.IndexAny(rest, "@/ ")
	return at > 0 && rest[at] == '@' && strings.Contains(rest[:at], ":")
}

// throughProxy has programs use the proxy: each reads another variable.
func throughProxy(env []string) []string {
	port := strconv.Itoa(proxyPort)
	http, socks := "http://127.0.0.1:"+port, "socks5h://127.0.0.1:"+port
	java := "-Dhttp.proxyHost=127.0.0.1 -Dhttp.proxyPort=" + port + " -Dhttps.proxyHost=127.0.0.1 -Dhttps.proxyPort=" + port
	for _, v := range [][2]string{
		{"HTTP_PROXY", http}, {"HTTPS_PROXY", http}, {"http_proxy", http}, {"https_proxy", http},
		{"ALL_PROXY", socks}, {"all_proxy", socks},
		{"NO_PROXY", "localhost,127.0.0.1,::1"}, {"no_proxy", "localhost,127.0.0.1,::1"},
		{"NODE_USE_ENV_PROXY", "1"}, {"YARN_HTTP_PROXY", http}, {"YARN_HTTPS_PROXY", http}, {"CARGO_HTTP_PROXY", http},
		{"MAVEN_OPTS", strings.TrimSpace(value(env, "MAVEN_OPTS") + " " + java)},
		{"GRADLE_OPTS", strings.TrimSpace(value(env, "GRADLE_OPTS") + " " + java)},
	} {
		env = with(env, v[0], v[1])
	}
	return env
}

// isProxy reports whether a variable names a proxy of the machine: nothing in a box reaches it.
func isProxy(name string) bool {
	return strings.HasSuffix(strings.ToUpper(name), "_PROXY")
}

// with returns env with a variable set.
func with(env []string, name, value string) []string {
	for i, v := range env {
		if rest, ok := strings.CutPrefix(v, name); ok && strings.HasPrefix(rest, "=") {
			env[i] = name + "=" + value
			return env
		}
	}
	return append(env, name+"="+value)
}

// value returns that of a variable; "" = it is not set.
func value(env []string, name string) string {
	for _, v := range env {
		if rest, ok := strings.CutPrefix(v, name); ok && strings.HasPrefix(rest, "=") {
			return rest[1:]
		}
	}
	return ""
}
