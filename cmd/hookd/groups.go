package main

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/hookd/hookd/internal/base/spell"
)

// wasKey is the annotation of a command that stands below a group, or under another name: its
// name in the table of impacts.
const wasKey = "was"

// named gives a command another name, for its place below a group. The command's impact on guards is
// looked up by the name that it had.
func named(name string, cmd *cobra.Command) *cobra.Command {
	was := cmd.Name()
	if name != was {
		_, args, has := strings.Cut(cmd.Use, " ")
		if cmd.Use = name; has {
			cmd.Use += " " + args
		}
		if says, ok := strings.CutPrefix(cmd.Long, was+" "); ok { // how the text about it begins
			cmd.Long = name + " " + says
		}
	}
	if cmd.Annotations == nil {
		cmd.Annotations = map[string]string{}
	}
	cmd.Annotations[wasKey] = was
	return cmd
}

// below gives a command to a group under its own name.
func below(group *cobra.Command, list ...*cobra.Command) *cobra.Command {
	for _, cmd := range list {
		if cmd.Annotations[wasKey] == "" {
			named(cmd.Name(), cmd)
		}
		group.AddCommand(cmd)
	}
	return group
}

// family makes a group that does nothing alone but show the commands below it.
func family(name, short, long string, list ...*cobra.Command) *cobra.Command {
	cmd := &cobra.Command{
		Use: name, Short: short, Long: long,
		Args: func(cmd *cobra.Command, args []string) error { return noSuch(cmd, args) },
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	return below(cmd, list...)
}

// also gives a command that does something alone its place as a group. A word behind it that is nearly
// the name of a command below it is told from the arguments.
func also(cmd *cobra.Command, list ...*cobra.Command) *cobra.Command {
	takes := cmd.Args
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		if len(args) > 0 && near(cmd, args[0]) != "" {
			return noSuch(cmd, args)
		}
		if takes == nil {
			return nil
		}
		return takes(cmd, args)
	}
	return below(cmd, list...)
}

// near is the command below cmd whose name a word is nearly; "" = none is.
func near(cmd *cobra.Command, word string) string {
	var names []string
	for _, sub := range cmd.Commands() {
		if !sub.Hidden && sub.Name()[0] == (word + " ")[0] {
			names = append(names, sub.Name())
		}
	}
	if len(word) < 3 || strings.ContainsAny(word, " /*.") {
		return ""
	}
	return spell.Near(word, names)
}

// noSuch is the error for a word that is no command below cmd. It names the command that is meant,
// wherever that stands.
func noSuch(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	hint := "see `" + cmd.CommandPath() + " --help`"
	if name := near(cmd, args[0]); name != "" {
		hint = "did you mean `" + cmd.CommandPath() + " " + name + "`?"
	} else if slices.Contains([]string{"list", "ls", "show"}, args[0]) && cmd.HasParent() {
		hint = "`" + cmd.CommandPath() + "` alone shows them"
	} else if path := elsewhere(cmd.Root(), args[0]); path != "" {
		hint = "did you mean `" + path + "`?"
	}
	return fail(exitUsage, hint, "%s has no command %q", cmd.CommandPath(), args[0])
}

// elsewhere is the path of the command of that name, or nearly that name, anywhere; "" = there is none.
func elsewhere(root *cobra.Command, word string) string {
	paths := map[string]string{}
	var names []string
	var walk func(*cobra.Command)
	walk = func(cmd *cobra.Command) {
		for _, sub := range cmd.Commands() {
			if sub.Hidden {
				continue
			}
			if _, known := paths[sub.Name()]; !known {
				paths[sub.Name()] = sub.CommandPath()
				names = append(names, sub.Name())
			}
			if !cmd.HasParent() { // what stands deeper has names such as set and show
				walk(sub)
			}
		}
	}
	walk(root)
	for _, sub := range root.Commands() { // names of before, where there is no other
		if _, known := paths[sub.Name()]; !known {
			paths[sub.Name()] = sub.CommandPath()
			names = append(names, sub.Name())
		}
	}
	if path := paths[word]; path != "" {
		return path
	}
	names = slices.DeleteFunc(names, func(name string) bool { return name[0] != (word + " ")[0] })
	return paths[spell.Near(word, names)]
}

// maker makes the command of a name. To make all takes longer than most commands do.
type maker struct {
	name string
	make func(*app) *cobra.Command
}

// groupList are the twelve words of the first screen, under their headings.
func groupList() []group {
	return []group{
		{"Start", []maker{{"init", initCommand}, {"scan", scanCommand}}},
		{"Look", []maker{{"why", whyCommand}, {"log", logGroup}}},
		{"Act", []maker{{"undo", undoCommand}, {"ask", askGroup}}},
		{"Rules", []maker{{"guard", guardGroup}, {"hook", hookGroup}}},
		{"Reach", []maker{{"agent", agentGroup}, {"team", teamGroup}}},
		{"Run", []maker{{"daemon", daemonGroup}, {"dev", devGroup}}},
	}
}

// firstScreen has the texts of the first screen about the groups.
var firstScreen = map[string]string{
	"init":   "guard the agents on this machine; --undo takes it all back",
	"scan":   "what your agents did in the last 30 days, before you install",
	"why":    "the last denial or any call, as a story",
	"log":    "calls and outcomes; -f follows, --sessions, --runs, --live",
	"undo":   "bring back what a call destroyed",
	"ask":    "answer what waits; allow, deny, permit once, grants",
	"guard":  "write a rule in one line; test, what-if, snooze, notify",
	"hook":   "programs as hooks: new, add, allow, disable, update",
	"agent":  "connect, disconnect, run, tokens",
	"team":   "policy, bundles, many machines",
	"daemon": "start, stop, settings, the page (hookd ui), doctor",
	"dev":    "emit, replay, schema, metrics, facts",
}

// first is `hookd --help`.
func first(groups []group) string {
	var b strings.Builder
	b.WriteString("hookd guards AI agents: what they run is asked about, boxed, kept or stopped.\n\n")
	for _, g := range groups {
		head := g.title
		for _, m := range g.commands {
			fmt.Fprintf(&b, "%-8s %-8s %s\n", head, m.name, firstScreen[m.name])
			head = ""
		}
	}
	b.WriteString(`
hookd alone says how you are. hookd GROUP --help says more; so does the page.
Everything takes --json, and times like "yesterday", 09:00, "2 hours ago".
hookd help all lists every command.   hookd docs TOPIC is for agents.
`)
	return b.String()
}

func logGroup(a *app) *cobra.Command {
	return also(named("log", decisionsCommand(a)),
		named("runs", historyCommand(a)), sessionsCommand(a), named("live", topCommand(a)),
		named("events", tailCommand(a)), named("output", logsCommand(a)), named("running", psCommand(a)),
		statsCommand(a), auditCommand(a))
}

// views are flags of `hookd log` that stand for a command below it.
var views = map[string]string{"--sessions": "sessions", "--runs": "runs", "--live": "live", "--events": "events"}

// viewed replaces a flag of `hookd log` by the command that it stands for.
func viewed(args []string) []string {
	if len(args) < 2 || args[0] != "log" {
		return args
	}
	for i, arg := range args[1:] {
		if name := views[arg]; name != "" {
			return slices.Concat([]string{"log", name}, args[1:i+1], args[i+2:])
		}
	}
	return args
}

func askGroup(a *app) *cobra.Command {
	return also(named("ask", asksCommand(a)),
		named("allow", allowAskCommand(a)),
		named("deny", denyAskCommand(a)),
		permitCommand(a), grantsCommand(a))
}

func guardGroup(a *app) *cobra.Command {
	return also(guardCommand(a), testCommand(a), named("what-if", whatIfCommand(a)), editCommand(a),
		learnCommand(a), snoozeCommand(a), notifyCommand(a), guardRmCommand(a), boxCommand(a))
}

func hookGroup(a *app) *cobra.Command {
	return also(named("hook", listCommand(a)),
		listCommand(a), showCommand(a), newCommand(a), addCommand(a), allowCommand(a), testCommand(a), editCommand(a),
		validateCommand(a), enableCommand(a), disableCommand(a), rmCommand(a), updateCommand(a), outdatedCommand(a),
		trustCommand(a), importCommand(a))
}

func agentGroup(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use: "agent", Short: "Connect agents, and see which are here",
		Long: `agent lists the agents on this machine and how each is connected; with -o wide also those
that are not here.`,
		Args: noSuch,
		RunE: func(cmd *cobra.Command, _ []string) error { return listAgents(a, cmd, connectFlags{}) },
	}
	return below(withLimit(a, cmd), connectCommand(a), disconnectCommand(a), blindspotsCommand(a), runCommand(a),
		tokenCommand(a), bridgeCommand(a))
}

func teamGroup(a *app) *cobra.Command {
	return family("team", "Hooks for many people and machines",
		`team is about hooks that others decide on: signed policies, bundles of hooks, and the fleet
of all machines.`,
		policyCommand(a), bundleCommand(a), fleetCommand(a))
}

func daemonGroup(a *app) *cobra.Command {
	return family("daemon", "Start, stop and examine hookd itself", `daemon is about hookd's own process: as a service, its settings, its page, and how it is.`,
		named("start", serveCommand(a)), stopCommand(a), restartCommand(a), reloadCommand(a), statusCommand(a),
		doctorCommand(a), uiCommand(a),
		configCommand(a), installCommand(a), uninstallCommand(a), recoverCommand(a), versionCommand(a))
}

func devGroup(a *app) *cobra.Command {
	return family("dev", "For authors of hooks and agents", `dev has the commands for authors of hooks, agents and programs around hookd.`,
		emitCommand(a), replayCommand(a), eventsCommand(a), matchCommand(a), factsCommand(a), schemaCommand(a),
		metricsCommand(a), killCommand(a), named("dead", dlqCommand(a)), vaultCommand(a), completionCommand(a))
}

// shortcuts are commands under the names that they had before there were groups, and forms that
// are typed often.
func shortcuts() []maker {
	return []maker{
		{"permit", permitCommand}, {"snooze", snoozeCommand}, {"notify", notifyCommand}, {"learn", learnCommand},
		{"box", boxCommand}, {"docs", docsCommand}, {"ui", uiCommand}, {"doctor", doctorCommand},
		{"status", statusCommand}, {"blindspots", blindspotsCommand}, {"connect", connectCommand},
		{"disconnect", disconnectCommand}, {"emit", emitCommand}, {"new", newCommand}, {"add", addCommand},
		{"test", testCommand}, {"whatif", whatIfCommand}, {"allow", allowCommand}, {"enable", enableCommand},
		{"disable", disableCommand}, {"edit", editCommand}, {"validate", validateCommand}, {"rm", rmCommand},
		{"update", updateCommand}, {"outdated", outdatedCommand}, {"trust", trustCommand},
		{"import", importCommand}, {"list", listCommand}, {"show", showCommand}, {"asks", asksCommand},
		{"grants", grantsCommand}, {"allow-ask", allowAskCommand}, {"deny-ask", denyAskCommand},
		{"decisions", decisionsCommand}, {"history", historyCommand}, {"sessions", sessionsCommand},
		{"logs", logsCommand}, {"tail", tailCommand}, {"ps", psCommand}, {"top", topCommand},
		{"stats", statsCommand}, {"audit", auditCommand}, {"match", matchCommand}, {"facts", factsCommand},
		{"metrics", metricsCommand}, {"events", eventsCommand}, {"schema", schemaCommand},
		{"replay", replayCommand}, {"kill", killCommand}, {"dlq", dlqCommand}, {"recover", recoverCommand},
		{"vault", vaultCommand}, {"bundle", bundleCommand}, {"policy", policyCommand}, {"fleet", fleetCommand},
		{"bridge", bridgeCommand}, {"token", tokenCommand}, {"run", runCommand}, {"serve", serveCommand},
		{"stop", stopCommand}, {"reload", reloadCommand}, {"install", installCommand},
		{"uninstall", uninstallCommand}, {"config", configCommand}, {"completion", completionCommand},
		{"version", versionCommand},
	}
}

// makersFor returns the makers of groups and of shortcuts for a command line: those named in it, where its first word
// is a name; else all.
func makersFor(line []string) (groups, short []maker) {
	for _, g := range groupList() {
		groups = append(groups, g.commands...)
	}
	short = shortcuts()
	first := func(m maker) bool { return len(line) > 0 && m.name == line[0] }
	if !slices.ContainsFunc(groups, first) && !slices.ContainsFunc(short, first) {
		return groups, short
	}
	unnamed := func(m maker) bool { return !slices.Contains(line, m.name) }
	return slices.DeleteFunc(groups, unnamed), slices.DeleteFunc(short, unnamed)
}

// sayPaths writes the path below its group into all help, where a command has another name there.
// Only help needs it, so commands that do something do not wait for it.
func sayPaths(root *cobra.Command) {
	say := placed()
	each(root, func(cmd *cobra.Command) {
		cmd.Long, cmd.Example = say(cmd.Long), say(cmd.Example)
		cmd.LocalFlags().VisitAll(func(f *pflag.Flag) { f.Usage = say(f.Usage) })
	})
}

// placed returns the function that writes the path of a command, below its group, for the name it had before.
func placed() func(text string) string {
	paths := map[string]string{}
	// All commands, with flags of their own: to make a flag sets its default.
	each(newRoot(newApp(nil, nil, nil)), func(cmd *cobra.Command) {
		was := cmd.Annotations[wasKey]
		if was != "" && was != cmd.Name() && !cmd.Hidden && paths[was] == "" {
			paths[was] = cmd.CommandPath()
		}
	})
	typed := regexp.MustCompile(`\bhookd ([a-z-]+)`)
	return func(text string) string {
		return typed.ReplaceAllStringFunc(text, func(found string) string {
			return cmp.Or(paths[strings.TrimPrefix(found, "hookd ")], found)
		})
	}
}

// each calls do with all commands below root.
func each(root *cobra.Command, do func(*cobra.Command)) {
	for _, cmd := range root.Commands() {
		do(cmd)
		each(cmd, do)
	}
}

// helpCommand shows help: of a command, or with `all` the list of all commands.
func helpCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "help [COMMAND…|all]",
		Short: "All of the help on a command; `hookd help all` lists every one",
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 && args[0] == "all" {
				printAllCommands(a.printer(a.out), cmd.Root())
				return nil
			}
			of, rest, err := cmd.Root().Find(args)
			if err != nil || len(rest) > 0 && of == cmd.Root() {
				return noSuch(cmd.Root(), args)
			}
			if of == cmd.Root() {
				return of.Help()
			}
			wholeHelp(a, of)
			return nil
		},
	}
}

// printAllCommands lists every command below the groups, and the shortcuts.
func printAllCommands(p *printer, root *cobra.Command) {
	var walk func(*cobra.Command)
	walk = func(cmd *cobra.Command) {
		p.line(p.fit(fmt.Sprintf("%-24s %s", strings.TrimPrefix(cmd.CommandPath(), "hookd "), cmd.Short)))
		for _, sub := range cmd.Commands() {
			if !sub.Hidden {
				walk(sub)
			}
		}
	}
	for _, cmd := range root.Commands() {
		if !cmd.Hidden && cmd.Name() != "help" {
			walk(cmd)
		}
	}
	p.line()
	var names []string
	for _, cmd := range root.Commands() {
		if cmd.Hidden {
			names = append(names, cmd.Name())
		}
	}
	slices.Sort(names)
	p.line("Short forms, also behind hookd alone:")
	p.line(fillLines(strings.Join(names, " "), cmp.Or(p.width, pipeWidth)))
}
