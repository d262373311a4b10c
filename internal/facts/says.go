package facts

import (
	"slices"
	"strconv"
	"strings"
)

// verbs are the words for effects, the gravest first: of a certain one, and of a possible one.
var verbs = []struct {
	kind          EffectKind
	does, perhaps string
}{
	{KindDelete, "deletes", "may delete"},
	{KindGuard, "changes what guards calls:", "may change what guards calls:"},
	{KindHistory, "rewrites the history of", "may rewrite the history of"},
	{KindSend, "sends data to", "may send data to"},
	{KindPublish, "publishes", "may publish"},
	{KindSecret, "reads the secrets in", "may read the secrets in"},
	{KindEscalate, "gets the rights of", "may get the rights of"},
	{KindKill, "stops", "may stop"},
	{KindMove, "moves", "may move"},
	{KindConfigure, "changes the settings in", "may change the settings in"},
	{KindWrite, "writes", "may write"},
	{KindInstall, "installs", "may install"},
	{KindConnect, "connects to", "may connect to"},
	{KindRun, "runs", "may run"},
	{KindRead, "reads", "may read"},
}

// covers has the kinds of effects that say more of a target than another kind does.
var covers = map[EffectKind][]EffectKind{
	KindRead: {KindSecret}, KindConnect: {KindSend, KindPublish}, KindWrite: {KindConfigure, KindGuard},
}

// mostNamed bounds the targets that a sentence names, and the doubts.
const mostNamed = 3

// Says returns the effects of the call in words for people, the gravest first, and the unknown parts.
// There is at least one sentence.
func (f *Facts) Says() (list []string) {
	for _, v := range verbs {
		for _, certain := range []bool{true, false} {
			verb := v.perhaps
			if certain {
				verb = v.does
			}
			if targets := f.targets(v.kind, certain); len(targets) > 0 {
				list = append(list, verb+" "+named(targets))
			}
		}
	}
	var doubts []string
	for _, d := range f.Doubts {
		if !slices.Contains(doubts, d.Text) {
			doubts = append(doubts, d.Text)
		}
	}
	switch {
	case len(doubts) > 0:
		list = append(list, "not known: "+named(doubts))
	case len(list) == 0:
		list = []string{"it only looks, as far as hookd knows"}
	}
	return list
}

// targets are those of the effects of a kind, each once, in words.
func (f *Facts) targets(kind EffectKind, certain bool) (list []string) {
	for _, e := range f.Effects {
		covered := slices.ContainsFunc(f.Effects, func(more Effect) bool {
			return more.Target == e.Target && slices.Contains(covers[kind], more.Kind)
		})
		words := targetWords(e.Target)
		if e.Kind == kind && e.Certain == certain && !covered && !slices.Contains(list, words) {
			list = append(list, words)
		}
	}
	return list
}

// targetWords is a target as a person says it: host:example.org is example.org, table:users is the
// table users.
func targetWords(target string) string {
	scheme, name, has := strings.Cut(target, ":")
	switch {
	case target == "":
		return "something that is not known"
	case !has || strings.ContainsAny(scheme, `/\.~`):
		return target
	case scheme == "project" && name == "":
		return "what the project says"
	case name == "":
		return "a " + scheme
	case scheme == "host", scheme == "user", scheme == "package":
		return name
	case scheme == "project":
		return "the project's " + name
	}
	return "the " + scheme + " " + name
}

// named are the first of some texts, and how many more there are.
func named(texts []string) string {
	if len(texts) <= mostNamed+1 {
		return strings.Join(texts, ", ")
	}
	return strings.Join(texts[:mostNamed], ", ") + " and " + strconv.Itoa(len(texts)-mostNamed) + " more"
}
