package main

import (
	"cmp"
	"errors"
	"fmt"
	"os/user"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hookd/hookd/client"
	"github.com/hookd/hookd/internal/agents/connect"
	"github.com/hookd/hookd/internal/base/config"
	"github.com/hookd/hookd/internal/base/system"
)

// effect tells how a command can change guards.
type effect struct {
	kind effectKind
	// unless names flags with which a command that weakens only looks.
	unless []string
	// only tells whether this command line weakens; nil = each does.
	only func(cmd *cobra.Command, args []string) bool
}

type effectKind string

const (
	looks   effectKind = "looks"   // it changes nothing of hookd
	acts    effectKind = "acts"    // it changes something, and no guard becomes weaker
	answers effectKind = "answers" // it answers an ask: the daemon says who may
	weakens effectKind = "weakens" // a guard may become weaker: an agent's process may not
)

// effects is the table of all commands. A command that is not here weakens.
var effects = map[string]effect{
	"init":       {kind: weakens, unless: []string{"dry-run"}},
	"scan":       {kind: looks},
	"learn":      {kind: weakens, unless: []string{"list"}},
	"new":        {kind: acts},
	"test":       {kind: acts},
	"whatif":     {kind: looks},
	"facts":      {kind: looks},
	"emit":       {kind: acts},
	"doctor":     {kind: looks},
	"blindspots": {kind: looks},

	"asks":         {kind: answers},
	"ui":           {kind: acts},
	"status":       {kind: looks},
	"list":         {kind: looks},
	"show":         {kind: looks},
	"match":        {kind: looks},
	"decisions":    {kind: looks},
	"sessions":     {kind: looks},
	"audit":        {kind: looks},
	"audit verify": {kind: looks},
	"audit export": {kind: looks},
	"history":      {kind: looks},
	"logs":         {kind: looks},
	"tail":         {kind: looks},
	"ps":           {kind: looks},
	"top":          {kind: looks},
	"stats":        {kind: looks},
	"metrics":      {kind: looks},
	"events":       {kind: looks},
	"config":       {kind: looks},

	"why":    {kind: looks},
	"permit": {kind: weakens},
	"snooze": {kind: weakens, unless: []string{"end"}},
	"notify": {kind: weakens},

	"edit":     {kind: weakens},
	"validate": {kind: looks},
	"enable":   {kind: acts},
	"allow": {kind: weakens, only: func(cmd *cobra.Command, args []string) bool {
		return len(args) > 0 || slices.ContainsFunc([]string{"all", "gone", "settings"}, cmd.Flags().Changed)
	}},
	"guard": {kind: weakens, only: func(cmd *cobra.Command, _ []string) bool {
		return cmd.Flags().Changed("allow") || cmd.Flags().Changed("rewrite")
	}},
	"disable":       {kind: weakens},
	"rm":            {kind: weakens},
	"restart":       {kind: weakens}, // its settings may be others
	"allow-ask":     {kind: answers},
	"deny-ask":      {kind: answers},
	"grants":        {kind: looks},
	"grants revoke": {kind: weakens},
	"kill":          {kind: weakens}, // a guard whose failure lets pass
	"recover":       {kind: acts},
	"replay":        {kind: acts},
	"dlq":           {kind: looks},
	"dlq list":      {kind: looks},
	"dlq show":      {kind: looks},
	"dlq retry":     {kind: acts},
	"dlq drop":      {kind: weakens},
	"undo":          {kind: acts}, // the daemon says who may
	"vault":         {kind: looks},
	"vault add":     {kind: acts}, // the daemon says who may

	"add": {kind: weakens, only: func(cmd *cobra.Command, _ []string) bool {
		return cmd.Flags().Changed("frozen")
	}},
	"update":         {kind: weakens},
	"outdated":       {kind: looks},
	"trust":          {kind: weakens, unless: []string{"list"}},
	"import":         {kind: acts},
	"bundle":         {kind: looks},
	"bundle keygen":  {kind: acts},
	"bundle build":   {kind: acts},
	"bundle show":    {kind: looks},
	"policy":         {kind: looks},
	"policy set":     {kind: weakens},
	"policy update":  {kind: weakens},
	"policy show":    {kind: looks},
	"policy unset":   {kind: weakens},
	"fleet":          {kind: looks},
	"fleet status":   {kind: looks},
	"fleet init":     {kind: weakens},
	"fleet keygen":   {kind: acts},
	"fleet user":     {kind: weakens},
	"fleet rollout":  {kind: weakens},
	"fleet rollouts": {kind: looks},
	"fleet accounts": {kind: acts},
	"fleet queue":    {kind: weakens},
	"fleet users":    {kind: weakens},
	"fleet forget":   {kind: weakens},
	"fleet disable":  {kind: weakens},
	"fleet enable":   {kind: weakens},

	"connect":      {kind: weakens, unless: []string{"dry-run"}},
	"disconnect":   {kind: weakens, unless: []string{"dry-run"}},
	"bridge":       {kind: acts},
	"token":        {kind: looks},
	"token rotate": {kind: weakens},

	"serve":     {kind: acts},
	"run":       {kind: weakens}, // it connects the user's agents to another daemon
	"stop":      {kind: weakens},
	"reload":    {kind: weakens},
	"install":   {kind: weakens, unless: []string{"dry-run"}},
	"uninstall": {kind: weakens, unless: []string{"dry-run"}},

	"agent":  {kind: looks},
	"team":   {kind: looks},
	"daemon": {kind: looks},
	"dev":    {kind: looks},
	"docs":   {kind: looks},

	"box":        {kind: looks},
	"schema":     {kind: looks},
	"completion": {kind: looks},
	"version":    {kind: looks},
	"help":       {kind: looks},
}

// pathOf is the name of a command in effects: below a group it is the name that it has elsewhere.
func pathOf(cmd *cobra.Command) string {
	path := ""
	for ; cmd.HasParent(); cmd = cmd.Parent() {
		was := cmd.Annotations[wasKey]
		path = strings.TrimSuffix(cmp.Or(was, cmd.Name())+" "+path, " ")
		if was != "" {
			break
		}
	}
	return path
}

// weakensGuards reports whether a command line may weaken a guard.
func weakensGuards(cmd *cobra.Command, args []string) bool {
	e, known := effects[pathOf(cmd)]
	switch {
	case !known:
		return pathOf(cmd) != "" && !cmd.Hidden // cobra's own: __complete
	case e.kind != weakens:
		return false
	case slices.ContainsFunc(e.unless, cmd.Flags().Changed):
		return false
	}
	return e.only == nil || e.only(cmd, args)
}

// mayWeaken asks the daemons before a command weakens a guard. Where none runs, none guards.
func mayWeaken(a *app, cmd *cobra.Command, args []string) error {
	if !weakensGuards(cmd, args) {
		return nil
	}
	ctx, cancel := a.answer(cmd)
	defer cancel()
	line := strings.Join(append([]string{cmd.CommandPath()}, args...), " ")
	sockets, own := guardingSockets(cmd)
	for i, socket := range sockets {
		err := client.New(client.Options{Socket: socket, Door: "command"}).MayWeaken(ctx, line)
		var refused *client.Error
		switch {
		case err == nil || errors.Is(err, client.ErrNotRunning):
		case !errors.As(err, &refused) && i >= own: // settings may name the daemon of another machine or user
		case refused == nil:
			return err
		case refused.Code == client.CodeForbidden:
			return fail(exitFailed, refused.Hint, "%s", refused.Message)
		default:
			return fmt.Errorf("ask the daemon at %s whether a guard may become weaker: %w", socket, err)
		}
	}
	return nil
}

// guardingSockets returns the sockets of the daemons whose guards a command could weaken. First come
// own sockets: of the command line, of the home whose files change, and of the user's home. The sockets in
// the settings of the user's agents follow.
func guardingSockets(cmd *cobra.Command) (list []string, own int) {
	list = []string{socketOf(cmd)}
	if ofSystem(cmd) {
		return list, 1
	}
	add := func(home string) {
		socket := filepath.Join(home, "hookd.sock")
		load := func() (config.Config, error) { return config.Load(home, nil, nil) }
		if c, err := readSettings(home, load); err == nil {
			socket = c.Socket
		}
		if !slices.Contains(list, socket) {
			list = append(list, socket)
		}
	}
	if home, err := config.Home(); err == nil {
		add(home)
	}
	homes := []string{""} // of $HOME
	if u, err := user.Current(); err == nil {
		add(filepath.Join(u.HomeDir, ".librefang"))
		homes = append(homes, u.HomeDir)
	}
	own = len(list)
	for _, home := range homes {
		for _, found := range connect.FindAgents(connect.Options{Home: home}) {
			socket := connect.Inspect(connect.Options{Agent: found.Agent, Home: home}).Socket
			if socket != "" && socket != system.Here().Socket && !slices.Contains(list, socket) {
				list = append(list, socket)
			}
		}
	}
	return list, own
}
