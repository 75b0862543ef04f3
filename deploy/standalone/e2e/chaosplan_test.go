package e2e_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
)

// sprout is a node of a random tree. It is written as JSON, which is also YAML.
type sprout struct {
	Name        string   `json:"name"`
	Type        string   `json:"type,omitempty"`
	Prompt      string   `json:"prompt,omitempty"`
	URL         string   `json:"url,omitempty"`
	Destructive bool     `json:"destructiveHint,omitempty"`
	A2A         []sprout `json:"a2a,omitempty"`
	Approval    string   `json:"approval,omitempty"`
	OnReject    string   `json:"on_reject,omitempty"`
	FailFast    bool     `json:"fail_fast,omitempty"`
	Iterations  int      `json:"max_iterations,omitempty"`
	Agents      []sprout `json:"agents,omitempty"`
}

// String formats a tree: name and type, ! if approvals are required, > if the tree continues
// after a rejection, ? if the first failure stops all, ~ if a delegation is destructive.
func (s sprout) String() string {
	out := s.Name + ":" + s.Type
	for _, mark := range []struct {
		set  bool
		text string
	}{{s.Approval != "", "!"}, {s.OnReject != "", ">"}, {s.FailFast, "?"}, {s.Destructive, "~"}} {
		if mark.set {
			out += mark.text
		}
	}
	var inside []string
	for _, a := range s.Agents {
		inside = append(inside, a.String())
	}
	if inside != nil {
		out += "[" + strings.Join(inside, " ") + "]"
	}
	return out
}

// A task is a destructive call that a tree makes.
type task struct {
	free   bool // runs without an approval
	rounds int  // maximum number of times in a turn
}

// plan is a random agent.
type plan struct {
	root  sprout
	tasks map[string]task // by name of the node
	solo  bool            // no tree, one model that makes the call in the message
	stops bool            // a failure may prevent an approved call
}

// planter draws a plan.
type planter struct {
	r     *rand.Rand
	far   string // URL of the other agent
	n     int
	tasks map[string]task
	stops bool
}

// soil has the properties that a node inherits from the nodes around it.
type soil struct {
	rounds int // product of the loops around it
	depth  int
	held   bool // approval: required
	unheld bool // a parallel or loop node is around it
}

// drawPlan draws a tree with every kind of node.
func drawPlan(r *rand.Rand, far string, solo bool) plan {
	p := &planter{r: r, far: far, tasks: map[string]task{}}
	if solo {
		return plan{solo: true, tasks: map[string]task{"solo": {rounds: 1}}}
	}
	root := sprout{Name: "root", Type: []string{"sequential", "sequential", "parallel"}[r.IntN(3)]}
	around := p.fill(&root, soil{rounds: 1})
	for _, kind := range []string{"parallel", "loop", "a2a", "tick"} {
		root.Agents = append(root.Agents, p.draw(kind, around))
	}
	r.Shuffle(len(root.Agents), func(i, j int) { root.Agents[i], root.Agents[j] = root.Agents[j], root.Agents[i] })
	root.Agents = append(root.Agents, p.draw("say", around))
	return plan{root: root, tasks: p.tasks, stops: p.stops}
}

// fill draws the settings of a composite node, and returns the soil of the nodes inside.
func (p *planter) fill(s *sprout, around soil) soil {
	if p.r.IntN(4) > 0 {
		s.Approval, around.held = "required", true
	}
	around.depth++
	around.unheld = around.unheld || s.Type != "sequential"
	switch s.Type {
	case "parallel":
		s.FailFast = p.r.IntN(4) == 0
		p.stops = p.stops || s.FailFast
	case "loop":
		s.Iterations = 2
		around.rounds *= 2
	}
	return around
}

// draw draws a node of the given kind.
func (p *planter) draw(kind string, around soil) sprout {
	p.n++
	s := sprout{Name: fmt.Sprintf("%s%d", kind, p.n), Type: kind}
	if p.r.IntN(3) == 0 {
		s.OnReject = "continue"
	}
	tick := fmt.Sprintf(`call tick {"name":"%s {user_message}"}`, s.Name)
	switch kind {
	case "sequential", "parallel", "loop":
		inside := p.fill(&s, around)
		for range 2 {
			s.Agents = append(s.Agents, p.draw(p.kind(inside), inside))
		}
		return s
	case "tick":
		s.Type, s.Prompt = "llm", "do: "+tick
		p.tasks[s.Name] = task{free: around.unheld && !around.held, rounds: around.rounds}
	case "look", "say":
		s.Type, s.Prompt = "llm", fmt.Sprintf(`do: call look {"name":"%s {user_message}"}`, s.Name)
		if kind == "say" {
			s.Prompt = "do: say done {user_message}"
		}
	case "a2a":
		s.URL, s.Prompt, s.Destructive = p.far, tick, p.r.IntN(3) == 0
		p.tasks[s.Name] = task{rounds: around.rounds}
	case "ask": // a model that delegates to another agent
		s.Type, s.Prompt = "llm", "do: "+delegating("far", tick)
		s.A2A = []sprout{{Name: "far", URL: p.far}}
		p.tasks[s.Name] = task{rounds: around.rounds}
	}
	return s
}

// kind draws the kind of an inner node.
func (p *planter) kind(around soil) string {
	kinds := []string{"tick", "tick", "look", "a2a", "ask"}
	if around.depth < 3 && p.n < 10 {
		kinds = append(kinds, "sequential", "parallel", "loop")
	}
	return kinds[p.r.IntN(len(kinds))]
}

// yaml returns the plan's part of the agent's file.
func (p plan) yaml() string {
	if p.solo {
		return ""
	}
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	if err := e.Encode(p.root); err != nil {
		panic(err)
	}
	return "agent: " + out.String()
}

// message returns the message of the user with this name.
func (p plan) message(name string) string {
	if p.solo {
		return fmt.Sprintf(`call tick {"name":"solo %s"}`, name)
	}
	return name
}
