package llm

import (
	"slices"
	"strconv"
	"strings"
)

// maxDemoCalls bounds the calls of one reply.
const maxDemoCalls = 10

// planner turns a message into requests.
type planner struct {
	tools    []*demoTool
	requests []request
	unknown  bool // a part of the message fits no tool
}

// request is a part of a message with the tool that fits it.
type request struct {
	*binding
	tokens []token // none if it is an errand
	times  int
}

// read plans the errands, and what stands between them.
func (p *planner) read(text string, errands []errand) {
	at := 0
	for _, e := range errands {
		p.readOwn(text[at:e.from])
		p.requests = append(p.requests, e.request())
		at = e.to
	}
	p.readOwn(text[at:])
}

// readOwn cuts a text at its borders and finds a tool for each part. A part
// without a verb goes on with the verb before it, as long as it makes a request
// by itself; otherwise it belongs to the request before it.
func (p *planner) readOwn(text string) {
	tokens := lex(text, p.isProperty)
	for len(tokens) > 1 && greetings[tokens[0].lower] {
		tokens = tokens[1:]
	}
	var part []token
	var joiner token
	for _, t := range append(tokens, token{border: true}) {
		if !t.border && (!joiners[t.lower] || t.quoted || t.key != "") {
			part = append(part, t)
			continue
		}
		if len(part) > 0 {
			p.part(joiner, part)
			part, joiner = nil, t
		}
	}
}

func (p *planner) isProperty(key string) bool {
	return slices.ContainsFunc(p.tools, func(t *demoTool) bool {
		return slices.ContainsFunc(t.props, func(q prop) bool { return plain(q.name) == plain(key) })
	})
}

func (p *planner) part(joiner token, part []token) {
	part, times := repeats(part)
	_, verbal := verbIn(part)
	if n := len(p.requests); n > 0 && times > 1 && idle(part) {
		p.requests[n-1].times = times
		return
	}
	if !verbal && idle(part) {
		return
	}
	if n := len(p.requests); n > 0 && !verbal && !p.called(part) && len(p.requests[n-1].tokens) > 0 {
		p.goOn(&p.requests[n-1], joiner, part, times)
		return
	}
	if b := match(p.tools, part, p.last()); b != nil {
		p.requests = append(p.requests, request{binding: b, tokens: part, times: times})
		return
	}
	p.unknown = true
}

// goOn takes a part without a verb: a request like the one before, or more words
// of that.
func (p *planner) goOn(before *request, joiner token, part []token, times int) {
	tokens := part
	if i := firstVerb(before.tokens); i >= 0 {
		tokens = append([]token{before.tokens[i]}, part...)
	}
	if b := match(p.tools, tokens, before.tool); b != nil && b.complete() && before.complete() {
		p.requests = append(p.requests, request{binding: b, tokens: tokens, times: times})
		return
	}
	tokens = slices.Concat(before.tokens, []token{joiner}, part)
	if b := match(p.tools, tokens, before.tool); b != nil {
		before.binding, before.tokens = b, tokens
	}
}

func (p *planner) called(part []token) bool {
	return slices.ContainsFunc(p.tools, func(t *demoTool) bool { return mentions(t, part) })
}

func (p *planner) last() *demoTool {
	if n := len(p.requests); n > 0 {
		return p.requests[n-1].tool
	}
	return nil
}

// idle: nothing but words without meaning.
func idle(part []token) bool {
	return !slices.ContainsFunc(part, func(t token) bool {
		return t.quoted || t.key != "" || !fillers[t.lower] && !greetings[t.lower]
	})
}

var numerals = map[string]int{"two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10}

// repeats reads "twice" and "3 times" off the end of a part.
func repeats(part []token) ([]token, int) {
	n := len(part)
	if n == 0 || part[n-1].quoted {
		return part, 1
	}
	switch last := part[n-1].lower; {
	case last == "twice":
		return part[:n-1], 2
	case last == "thrice":
		return part[:n-1], 3
	case last == "times" && n > 1:
		times, err := strconv.Atoi(part[n-2].lower)
		if err != nil {
			times = numerals[part[n-2].lower]
		}
		if times > 0 {
			return part[:n-2], min(times, maxDemoCalls)
		}
	}
	return part, 1
}

// trim keeps texts for people short.
func trim(text string, limit int) string {
	first, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return cut(first, limit)
}
