package convert

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"text/template/parse"

	"agent-stop-and-go/mcpservers/commands/script"

	"mvdan.cc/sh/v3/syntax"
)

// place says how the shell reads what stands at a template.
type place int

const (
	bare     place = iota // a word, or a part of one, without quotes
	double                // "…"
	document              // a here-document that expands
	single                // '…'
	raw                   // a here-document that does not expand
	comment               // a comment
)

// piece is one template of a script.
type piece struct {
	node parse.Node // an action; for the parts of a control structure its node
	part part
	line int
}

type part int

const (
	whole  part = iota // an action
	begin              // {{ if }} or {{ range }}
	middle             // {{ else }}
	end                // {{ end }}
)

// skeleton is a script in which each template is a word of its own.
type skeleton struct {
	text   string
	pieces []piece
	places []place
	raws   []heredoc
}

// heredoc is a here-document that does not expand and has templates.
type heredoc struct{ word, body [2]int }

var placeholder = regexp.MustCompile(`#?QZ(\d+)QZ`)

// build replaces templates by placeholders and asks a parser of the shell where they stand.
func build(source string) (*skeleton, error) {
	if strings.Contains(source, "QZ") {
		return nil, fmt.Errorf("the script contains the letters QZ, which the conversion uses")
	}
	tree := parse.New("script")
	tree.Mode = parse.SkipFuncCheck
	if _, err := tree.Parse(source, "", "", map[string]*parse.Tree{}); err != nil {
		return nil, err
	}
	s := &skeleton{}
	var b strings.Builder
	if err := s.add(&b, tree.Root.Nodes, source); err != nil {
		return nil, err
	}
	s.text = b.String()
	s.places = make([]place, len(s.pieces))
	file, err := script.Parse(s.text, false)
	if err != nil {
		return nil, fmt.Errorf("the script cannot be parsed with words for its templates: %w", err)
	}
	s.locate(file)
	return s, nil
}

func (s *skeleton) add(b *strings.Builder, nodes []parse.Node, source string) error {
	for i, node := range nodes {
		alone := func() bool { return aloneOnItsLine(b.String(), nodes, i) }
		switch n := node.(type) {
		case *parse.TextNode:
			b.Write(n.Text)
		case *parse.ActionNode:
			s.mark(b, piece{n, whole, lineOf(source, n.Pos)}, false)
		case *parse.IfNode:
			if err := s.control(b, n, &n.BranchNode, alone(), source); err != nil {
				return err
			}
		case *parse.RangeNode:
			if err := s.control(b, n, &n.BranchNode, alone(), source); err != nil {
				return err
			}
		case *parse.CommentNode:
		default:
			return fmt.Errorf("line %d: the template %s is not known", lineOf(source, node.Position()), node)
		}
	}
	return nil
}

// control adds the parts of {{ if }} or {{ range }}. On a line of its own a part looks like a comment, which it
// only is where commands are.
func (s *skeleton) control(b *strings.Builder, node parse.Node, n *parse.BranchNode, alone bool, source string) error {
	line := lineOf(source, n.Pos)
	if isJSONList(node) {
		s.mark(b, piece{node, whole, line}, false)
		return nil
	}
	s.mark(b, piece{node, begin, line}, alone)
	if err := s.add(b, n.List.Nodes, source); err != nil {
		return err
	}
	if n.ElseList != nil {
		s.mark(b, piece{node, middle, line}, alone)
		newline := ""
		if alone && isElseIf(n.ElseList) { // an if within the else, whose parts get lines of their own
			newline = "\n"
		}
		b.WriteString(newline)
		if err := s.add(b, n.ElseList.Nodes, source); err != nil {
			return err
		}
		b.WriteString(newline)
	}
	s.mark(b, piece{node, end, line}, alone)
	return nil
}

// isElseIf reports whether the nodes after an else are those of {{ else if }}.
func isElseIf(after *parse.ListNode) bool {
	if len(after.Nodes) != 1 {
		return false
	}
	_, ok := after.Nodes[0].(*parse.IfNode)
	return ok
}

func (s *skeleton) mark(b *strings.Builder, p piece, asComment bool) {
	if asComment {
		b.WriteString("#")
	}
	fmt.Fprintf(b, "QZ%dQZ", len(s.pieces))
	s.pieces = append(s.pieces, p)
}

func aloneOnItsLine(before string, nodes []parse.Node, i int) bool {
	last := before[strings.LastIndex(before, "\n")+1:]
	if strings.TrimSpace(last) != "" {
		return false
	}
	var list *parse.ListNode
	switch n := nodes[i].(type) {
	case *parse.IfNode:
		list = n.List
	case *parse.RangeNode:
		list = n.List
	}
	if len(list.Nodes) == 0 {
		return false
	}
	first, ok := list.Nodes[0].(*parse.TextNode)
	return ok && strings.HasPrefix(strings.TrimLeft(string(first.Text), " \t"), "\n")
}

func lineOf(source string, at parse.Pos) int {
	return 1 + strings.Count(source[:min(int(at), len(source))], "\n")
}

// locate finds the place of each placeholder.
func (s *skeleton) locate(file *syntax.File) {
	set := func(text string, p place) bool {
		found := placeholder.FindAllStringSubmatch(text, -1)
		for _, m := range found {
			n, _ := strconv.Atoi(m[1])
			s.places[n] = p
		}
		return len(found) > 0
	}
	var walk func(node syntax.Node, p place)
	walk = func(node syntax.Node, p place) {
		syntax.Walk(node, func(n syntax.Node) bool {
			switch n := n.(type) {
			case *syntax.Lit:
				set(n.Value, p)
			case *syntax.SglQuoted:
				set(n.Value, single)
			case *syntax.Comment:
				set("#"+n.Text, comment)
			case *syntax.DblQuoted:
				for _, inner := range n.Parts {
					walk(inner, double)
				}
				return false
			case *syntax.CmdSubst:
				for _, inner := range n.Stmts {
					walk(inner, bare)
				}
				return false
			case *syntax.Redirect:
				if n.Hdoc == nil {
					return true
				}
				walk(n.Word, bare)
				if !quoted(n.Word) {
					walk(n.Hdoc, document)
					return false
				}
				body := s.text[n.Hdoc.Pos().Offset():n.Hdoc.End().Offset()]
				if set(body, raw) {
					s.raws = append(s.raws, heredoc{
						word: [2]int{int(n.Word.Pos().Offset()), int(n.Word.End().Offset())},
						body: [2]int{int(n.Hdoc.Pos().Offset()), int(n.Hdoc.End().Offset())},
					})
				}
				return false
			}
			return true
		})
	}
	walk(file, bare)
}

func quoted(w *syntax.Word) bool {
	for _, part := range w.Parts {
		switch p := part.(type) {
		case *syntax.SglQuoted, *syntax.DblQuoted:
			return true
		case *syntax.Lit:
			if strings.Contains(p.Value, `\`) {
				return true
			}
		}
	}
	return false
}
