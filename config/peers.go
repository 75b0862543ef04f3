package config

import (
	"fmt"
	"iter"

	"agent-stop-and-go/workflows/contract"
)

// checkPeers wants one URL for each agent that is delegated to, however many
// nodes name it.
func (c *Config) checkPeers(r *report) {
	first := map[string]struct{ url, path string }{}
	check := func(path, name, url string) {
		if name == "" || url == "" {
			return
		}
		switch known, again := first[name]; {
		case !again:
			first[name] = struct{ url, path string }{url, path}
		case known.url != url:
			r.at(path+".url", "the agent %s has another url in %s; one name stands for one agent",
				quote(name), r.place(known.path+".url"))
		}
	}
	list := func(path string, agents []A2AAgent) {
		for path, a := range eachA2A(path, agents) {
			check(path, a.Name, a.URL)
		}
	}
	list("a2a", c.A2A)
	for p := range c.places() {
		check(p.path, p.Name, p.URL)
		list(p.path+".a2a", p.A2A)
	}
}

// eachA2A visits the agents of a list with their key paths.
func eachA2A(list string, agents []A2AAgent) iter.Seq2[string, A2AAgent] {
	return func(yield func(string, A2AAgent) bool) {
		for i, a := range agents {
			if !yield(fmt.Sprintf("%s[%d]", list, i), a) {
				return
			}
		}
	}
}

// place names the line of a key: "file:line".
func (r *report) place(path string) string {
	return fmt.Sprintf("%s:%d", r.file, r.line(path))
}

func peersOf(agents []A2AAgent) []contract.Peer {
	var peers []contract.Peer
	for _, a := range agents {
		peers = append(peers, contract.Peer{Name: a.Name, URL: a.URL, Description: a.Description, Destructive: a.DestructiveHint})
	}
	return peers
}
