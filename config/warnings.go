package config

import (
	"fmt"
	"net/netip"
	"slices"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/template"
)

// Warnings are valid settings that deserve a look, one line each like errors, sorted by line.
// They show names and keys, but no values.
func (c *Config) Warnings() []string {
	w := warner{newReport(c.file, c.lines)}
	w.models(c)
	if len(c.Auth) == 0 && !loopback(c.Host) {
		w.at("host", "whoever reaches this address can start conversations, read them and approve calls: nobody has to log in; 127.0.0.1 keeps the agent on this machine")
	}
	for i, way := range c.Auth {
		if slices.ContainsFunc(way.Networks(), func(n netip.Prefix) bool { return n.Addr().IsLoopback() }) {
			w.at(fmt.Sprintf("auth[%d].from", i), "every program of this machine, also a tool server, can write %s and be anybody", way.Header)
		}
	}
	if outside := c.PublicURL != "" || !loopback(c.Host); outside && c.Push.AllowPrivate {
		w.at("push.allow_private", "whoever reaches the agent can have it send requests to this machine and its network")
	} else if outside && c.Push.AllowLoopback {
		w.at("push.allow_loopback", "whoever reaches the agent can have it send requests to this machine")
	}
	if root, ok := c.root(); ok {
		w.tree(root)
	}
	return w.texts()
}

// loopback reports whether a host is reachable from this machine only.
func loopback(host string) bool {
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.IsLoopback()
}

func (w warner) tree(root nodeContext) {
	setters := map[string][]nodeContext{}
	for p := range root.all() {
		if p.Type == Parallel {
			w.conflicts(p)
		}
		if p.CanExitLoop && !p.inLoop {
			w.at(p.path+".can_exit_loop", "no loop is around this node; exit_loop ends every sequence around it")
		}
		w.autoRuns(p)
		if p.OutputKey != "" {
			setters[p.OutputKey] = append(setters[p.OutputKey], p)
		}
	}
	w.placeholders(root, setters, keySet{})
}

// warner collects warnings like mistakes.
type warner struct{ *report }

// conflicts warns about a key that two branches of a parallel node set.
func (w warner) conflicts(parallel nodeContext) {
	type setter struct {
		nodeContext
		branch int
	}
	first := map[string]setter{}
	for i, branch := range parallel.children() {
		for p := range branch.all() {
			if p.OutputKey == "" {
				continue
			}
			other, again := first[p.OutputKey]
			switch {
			case !again:
				first[p.OutputKey] = setter{p, i}
			case other.branch != i:
				w.at(p.path+".output_key", "%s is also set in %s, by another branch of %s; the branch that is declared last wins",
					quote(p.OutputKey), w.location(other.path+".output_key"), quote(parallel.Name))
			}
		}
	}
}

// autoRuns warns about delegations that are destructive and run without approval.
func (w warner) autoRuns(p nodeContext) {
	if !p.skipsApproval() {
		return
	}
	warn := func(path string, destructive bool) {
		if destructive {
			w.at(path+".destructiveHint", "runs without asking, being inside the %s node %s; approval: required makes it wait for a person",
				p.enclosing.Type, quote(p.enclosing.Name))
		}
	}
	warn(p.path, p.DestructiveHint)
	for path, a := range eachA2A(p.path+".a2a", p.A2A) {
		warn(path, a.DestructiveHint)
	}
}

// keySet counts how often a key was added.
type keySet map[string]int

func (s keySet) add(keys []string) {
	for _, key := range keys {
		s[key]++
	}
}

func (s keySet) remove(keys []string) {
	for _, key := range keys {
		s[key]--
	}
}

// placeholders warns about placeholders that never have a value. setters has every output key
// of the tree; set has those of nodes that can have finished before p: the earlier ones in an
// enclosing sequence, and all in an enclosing loop.
func (w warner) placeholders(p nodeContext, setters map[string][]nodeContext, set keySet) {
	for _, h := range template.Placeholders(p.Prompt) {
		switch {
		case h.Key == contract.KeyUserMessage || set[h.Key] > 0:
			w.field(p, h, setters[h.Key])
		case len(setters[h.Key]) > 0:
			w.atPrompt(p, h, "is empty: no node with this output_key can have finished before this one")
		default:
			w.atPrompt(p, h, "stays as it is: no node has this output_key")
		}
	}
	var added []string
	if p.Type == Loop {
		for _, q := range p.children() {
			added = append(added, q.outputKeys()...)
		}
		set.add(added)
	}
	for _, q := range p.children() {
		w.placeholders(q, setters, set)
		if p.Type == Sequential {
			keys := q.outputKeys()
			set.add(keys)
			added = append(added, keys...)
		}
	}
	set.remove(added)
}

// atPrompt warns about a placeholder. A prompt may have several warnings.
func (w warner) atPrompt(p nodeContext, h template.Placeholder, what string) {
	path := p.path + ".prompt"
	w.atLine(w.line(path), path, "%s %s", h, what)
}
