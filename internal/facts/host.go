package facts

import (
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"github.com/hookd/hookd/internal/base/lazyregexp"
)

// hostOf is the host that an address names: a URL, user@host:path, host:port or host. A host has one spelling, that
// by which it is reached, however the address writes it.
func hostOf(text string) string {
	return spelled(hostIn(strings.ReplaceAll(webAddress(text), `\`, "/")))
}

// hostsOf are the hosts that programs reach by an address. A \ before an @ begins the path for some, and is a part of
// the user's name for others.
func hostsOf(text string) (hosts []string) {
	if host := hostOf(text); host != "" {
		hosts = append(hosts, host)
	}
	if before, _, has := strings.Cut(text, "@"); has && strings.Contains(before, `\`) {
		hosts = append(hosts, spelled(hostIn(webAddress(text))))
	}
	return hosts
}

// webScheme finds the beginning of an address of the web: browsers and node take any number of slashes behind it.
var webScheme = lazyregexp.New(`(?i)^(?:(https?|wss?|ftp):[/\\]*|//)`)

// webAddress is an address of the web with two slashes behind its scheme, and without the white space that clients
// leave out.
func webAddress(text string) string {
	text = strings.NewReplacer("\t", "", "\r", "", "\n", "").Replace(strings.TrimSpace(text))
	if scheme := webScheme.FindString(text); scheme != "" {
		name, _, _ := strings.Cut(scheme, ":")
		return strings.Trim(name, "/") + "://" + text[len(scheme):]
	}
	return text
}

// webHost finds a host in place of an address: a browser adds the scheme.
var webHost = lazyregexp.New(`(?i)^(?:localhost|[\w-]+(?:\.[\w-]+)*\.[a-z]{2,}|\d+(?:\.\d+){3})(?::\d+)?(?:[/?#]|$)`)

// fileScheme finds the beginning of an address of a file of this machine.
var fileScheme = lazyregexp.New(`(?i)^file:(?:///?localhost/|/+|//)`)

// localFile is the file that an address of a file names; is is false of another text, which it returns as it is.
func localFile(text string) (file string, is bool) {
	scheme := fileScheme.FindString(text)
	if scheme == "" {
		return text, false
	}
	file = text[len(scheme):]
	if plain, err := url.PathUnescape(file); err == nil {
		file = plain
	}
	if strings.HasPrefix(file, "~") {
		return file, true
	}
	return "/" + file, true
}

// hostIn is the host as an address writes it.
func hostIn(text string) string {
	if isURL(text) {
		if u, err := url.Parse(strings.ReplaceAll(text, unknownPart, "x")); err == nil && u.Host != "" {
			return u.Hostname()
		}
		_, text, _ = strings.Cut(text, "://")
	}
	if end := strings.IndexAny(text, "/?#"); end >= 0 {
		text = text[:end]
	}
	if at := strings.LastIndexByte(text, '@'); at >= 0 {
		text = text[at+1:]
	}
	if strings.HasPrefix(text, "[") {
		host, _, _ := strings.Cut(text[1:], "]")
		return host
	}
	host, _, _ := strings.Cut(text, ":")
	return host
}

// spelled is a host by its one spelling: evil.example for EVIL%2Eexample., and 127.0.0.1 for 0x7f.1.
func spelled(host string) string {
	if strings.Contains(host, unknownPart) {
		return strings.ToLower(host)
	}
	if plain, err := url.PathUnescape(host); err == nil {
		host = plain
	}
	host = strings.ReplaceAll(norm.NFKC.String(host), "\u3002", ".")
	host = strings.TrimSuffix(strings.Map(shown, strings.ToLower(host)), ".")
	if address, err := netip.ParseAddr(ipv4(host)); err == nil {
		return address.Unmap().String()
	}
	return host
}

// shown leaves out characters that are never seen: the name of a host has none.
func shown(r rune) rune {
	if unicode.Is(unicode.Cf, r) {
		return -1
	}
	return r
}

// ipv4 is an address of four numbers that the text writes as inet_aton(3) reads them: fewer, octal, or hexadecimal. A
// small number alone is more likely something else.
func ipv4(host string) string {
	parts := strings.Split(host, ".")
	if len(parts) > 4 || len(parts) == 1 && len(host) < 8 && host != "0" {
		return host
	}
	var n uint64
	for i, part := range parts {
		bits := 8
		if i == len(parts)-1 {
			bits = 8 * (4 - i)
		}
		v, err := strconv.ParseUint(part, 0, bits)
		if err != nil {
			return host
		}
		n = n<<bits | v
	}
	return netip.AddrFrom4([4]byte{byte(n >> 24), byte(n >> 16), byte(n >> 8), byte(n)}).String()
}
