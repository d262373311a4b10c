package facts

import (
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"golang.org/x/net/idna"
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
	host = InASCII(strings.TrimSuffix(strings.Map(shown, strings.ToLower(host)), "."))
	if address, err := netip.ParseAddr(ipv4(host)); err == nil {
		return address.Unmap().String()
	}
	return host
}

// InASCII is a host, or a pattern of hosts, as the DNS has it: xn--bcher-kva.example for bücher.example. A label that
// the DNS cannot have stays as it is.
func InASCII(host string) string {
	labels := strings.Split(host, ".")
	for i, label := range labels {
		if !strings.ContainsFunc(label, func(r rune) bool { return r > unicode.MaxASCII }) {
			continue
		}
		if ascii, err := idna.Lookup.ToASCII(label); err == nil {
			labels[i] = ascii
		} else if ascii, err := idna.Punycode.ToASCII(strings.ToLower(label)); err == nil {
			labels[i] = ascii
		}
	}
	return strings.Join(labels, ".")
}

// redirects are the hosts that an address names in its query: a server may lead there.
func redirects(text string) (hosts []string) {
	u, err := url.Parse(webAddress(text))
	if err != nil || u.RawQuery == "" {
		return nil
	}
	for _, values := range u.Query() {
		for _, value := range values {
			if webScheme.MatchString(value) {
				hosts = append(hosts, hostsOf(value)...)
			}
		}
	}
	slices.Sort(hosts)
	return hosts
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
