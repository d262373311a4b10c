package config

import (
	"fmt"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/hookd/hookd/internal/base/https"
	"github.com/hookd/hookd/internal/base/lazyregexp"
	"github.com/hookd/hookd/internal/base/spell"
)

// Forward is one entry of `forward`: a place that every decision is handed on to.
type Forward struct {
	Name    string            `yaml:"name"` // under which the store keeps how far it has come; default Type
	Type    string            `yaml:"type"` // ForwardOTLP, ForwardWebhook or ForwardFile
	URL     string            `yaml:"url,omitempty"`
	Path    string            `yaml:"path,omitempty"`    // absolute after Load
	Headers map[string]string `yaml:"headers,omitempty"` // values as Secret reads them
	Sign    string            `yaml:"sign,omitempty"`    // key of the signature, as Secret reads it; "" = none
	CA      string            `yaml:"ca,omitempty"`      // file of the certificates to trust; "" = those of the system
}

// Types of a Forward.
const (
	ForwardOTLP    = "otlp"
	ForwardWebhook = "webhook"
	ForwardFile    = "file"
)

// maxForwards bounds the list: each entry has a goroutine and reads the history.
const maxForwards = 8

// forwardKeys are the keys that an entry of each type may have besides name and type; the
// first one is required.
var forwardKeys = map[string][]string{
	ForwardOTLP:    {"url", "headers", "ca"},
	ForwardWebhook: {"url", "headers", "sign", "ca"},
	ForwardFile:    {"path"},
}

// ForwardTypes returns the types in the order of the documentation.
func ForwardTypes() []string { return []string{ForwardOTLP, ForwardWebhook, ForwardFile} }

func forwards(c *Config, n *yaml.Node) error {
	if n.Kind != yaml.SequenceNode {
		return fmt.Errorf("want a list such as [{type: webhook, url: https://logs.example.com/hookd}]")
	}
	if len(n.Content) > maxForwards {
		return fmt.Errorf("there are %d, want at most %d", len(n.Content), maxForwards)
	}
	list := []Forward{}
	for _, item := range n.Content {
		f, err := forward(c, item)
		if err == nil && slices.ContainsFunc(list, func(other Forward) bool { return other.Name == f.Name }) {
			err = fmt.Errorf("two are called %q: give each a name of its own", f.Name)
		}
		if err != nil {
			return fmt.Errorf("line %d: %w", item.Line, err)
		}
		list = append(list, f)
	}
	c.Forward = list
	return nil
}

func forward(c *Config, n *yaml.Node) (f Forward, err error) {
	if n.Kind != yaml.MappingNode {
		return f, fmt.Errorf("want {type: …, …}")
	}
	if err := n.Decode(&f); err != nil {
		return f, fmt.Errorf("want {type: otlp, url: …}, {type: webhook, url: …, headers: {NAME: VALUE}} or {type: file, path: …}")
	}
	allowed, known := forwardKeys[f.Type]
	if !known {
		types := ForwardTypes()
		return f, fmt.Errorf("type %q, want %s%s", f.Type, strings.Join(types, ", "), spell.DidYouMean(f.Type, types))
	}
	if err := checkForwardKeys(n, f.Type, allowed); err != nil {
		return f, err
	}
	if f.Name == "" {
		f.Name = f.Type
	}
	if !plainName(f.Name) {
		return f, fmt.Errorf("name %q, want up to 64 of a-z, 0-9, - and _", f.Name)
	}
	for name, value := range f.Headers {
		if !headerName.MatchString(name) {
			return f, fmt.Errorf("headers: %q is no name of a header", name)
		}
		if f.Headers[name], err = secretRef(c.Home, value); err != nil {
			return f, fmt.Errorf("headers: %s: %w", name, err)
		}
	}
	if f.Sign != "" {
		if f.Sign, err = secretRef(c.Home, f.Sign); err != nil || isLiteral(f.Sign) {
			return f, fmt.Errorf("sign: the key is never in hookd.yaml: write file:PATH or env:NAME")
		}
	}
	if f.CA != "" {
		if f.CA, err = absolute(c.Home, f.CA); err != nil {
			return f, fmt.Errorf("ca: %w", err)
		}
	}
	return f, f.checkPlace(c.Home)
}

// checkForwardKeys refuses keys that an entry of this type does not have.
func checkForwardKeys(n *yaml.Node, kind string, allowed []string) error {
	all := append([]string{"type", "name"}, allowed...)
	for i := 0; i+1 < len(n.Content); i += 2 {
		if k := n.Content[i].Value; !slices.Contains(all, k) {
			return fmt.Errorf("%s has no key %q, want %s%s", kind, k, strings.Join(all, ", "), spell.DidYouMean(k, all))
		}
	}
	return nil
}

func (f *Forward) checkPlace(home string) (err error) {
	switch {
	case f.Type == ForwardFile && f.Path == "":
		return fmt.Errorf("file: there is no path")
	case f.Type == ForwardFile:
		f.Path, err = absolute(home, f.Path)
	case f.URL == "":
		return fmt.Errorf("%s: there is no url", f.Type)
	default:
		_, err = https.Check(f.URL)
	}
	return err
}

// headerName is RFC 9110's token.
var headerName = lazyregexp.New("^[-!#$%&'*+.^_`|~0-9A-Za-z]+$")

// secretRef makes the path of a file: absolute.
func secretRef(home, value string) (string, error) {
	if path, ok := strings.CutPrefix(value, "file:"); ok {
		path, err := absolute(home, path)
		return "file:" + path, err
	}
	if strings.ContainsAny(value, "\r\n\x00") || value == "" || value == "env:" {
		return "", fmt.Errorf("want one line: the value itself, file:PATH or env:NAME")
	}
	return value, nil
}

func isLiteral(value string) bool {
	return !strings.HasPrefix(value, "file:") && !strings.HasPrefix(value, "env:")
}

// shownForwards are the forwards of c as people see them: values that may be secrets
// are hidden.
func shownForwards(list []Forward) []Forward {
	shown := slices.Clone(list)
	for i, f := range shown {
		shown[i].Headers = map[string]string{}
		for name, value := range f.Headers {
			if isLiteral(value) {
				value = "(hidden)"
			}
			shown[i].Headers[name] = value
		}
	}
	return shown
}
