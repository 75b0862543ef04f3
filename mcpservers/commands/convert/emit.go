package convert

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"text/template/parse"

	"agent-stop-and-go/mcpservers/commands/definition"
)

// emitter writes the script of a skeleton.
type emitter struct {
	*skeleton
	*scope
	out    strings.Builder
	inline []place // places of the control structures inside texts that are open
	words  bool    // a range among the words of a command is open
	errs   []error
}

func (s *skeleton) emit(scope *scope) (string, error) {
	e := &emitter{skeleton: s, scope: scope}
	at := 0
	var outer []scopeItem
	for _, m := range placeholder.FindAllStringSubmatchIndex(s.text, -1) {
		n, _ := strconv.Atoi(s.text[m[2]:m[3]])
		p := s.pieces[n]
		start := m[0]
		if s.text[start] == '#' && p.part == whole {
			start++ // the text of the script itself
		}
		e.text(at, start)
		at = m[1]
		if err := e.piece(p, s.places[n], &outer); err != nil {
			e.errs = append(e.errs, fmt.Errorf("line %d: %w", p.line, err))
		}
	}
	e.text(at, len(s.text))
	return e.out.String(), errors.Join(e.errs...)
}

type scopeItem struct{ item, name string }

// escaped are the characters that the text of a place needs a backslash for in "…". In a here-document that does
// not expand the others get theirs anyway.
var escaped = map[place]string{single: "\"$`\\", raw: `"`, document: `"`}

// text copies a part of the skeleton with the escapes that its new surroundings need.
func (e *emitter) text(from, to int) {
	for at := from; at < to; at++ {
		c := e.skeleton.text[at]
		for _, h := range e.raws {
			if at >= h.word[0] && at < h.word[1] && strings.ContainsRune(`'"\`, rune(c)) {
				c = 0 // the quotes of the delimiter
			}
			if at >= h.body[0] && at < h.body[1] && strings.ContainsRune("$`\\", rune(c)) {
				e.out.WriteByte('\\')
			}
		}
		if len(e.inline) > 0 && c != 0 && strings.ContainsRune(escaped[e.inline[0]], rune(c)) {
			e.out.WriteByte('\\')
		}
		if c != 0 {
			e.out.WriteByte(c)
		}
	}
}

// piece writes one template.
func (e *emitter) piece(p piece, at place, outer *[]scopeItem) error {
	if at == comment && p.part == whole {
		return nil // in a comment of the script nothing is needed
	}
	if p.part == whole {
		return e.action(p.node, at)
	}
	var branch *parse.BranchNode
	ranged, isRange := p.node.(*parse.RangeNode)
	if isRange {
		branch = &ranged.BranchNode
	} else {
		branch = &p.node.(*parse.IfNode).BranchNode
	}
	statement := at == comment
	switch p.part {
	case begin:
		head, err := e.head(branch, isRange, outer)
		if err != nil {
			return err
		}
		if statement {
			e.out.WriteString(head + " :")
			return nil
		}
		if at == bare && len(e.inline) == 0 {
			e.words = true
			return checkWords(p.node)
		}
		e.open(at, head)
	case middle:
		if isRange {
			return errors.New("{{ else }} of a range is not known")
		}
		if statement {
			e.out.WriteString("else :")
			return nil
		}
		e.out.WriteString(`"; else printf '%s' "`)
	case end:
		if isRange {
			e.item, e.itemName = (*outer)[len(*outer)-1].item, (*outer)[len(*outer)-1].name
			*outer = (*outer)[:len(*outer)-1]
		}
		tail := map[bool]string{true: "done", false: "fi"}[isRange]
		if statement {
			e.out.WriteString(tail)
			return nil
		}
		if len(e.inline) == 0 {
			e.words = false
			return nil // the placeholders inside wrote the values
		}
		e.close(tail)
	}
	return nil
}

// open begins a command substitution inside a text.
func (e *emitter) open(at place, head string) {
	if at == single && len(e.inline) == 0 {
		e.out.WriteString(`'"`)
	}
	e.inline = append(e.inline, at)
	e.out.WriteString("$(" + head + ` printf '%s' "`)
}

func (e *emitter) close(tail string) {
	at := e.inline[len(e.inline)-1]
	e.inline = e.inline[:len(e.inline)-1]
	e.out.WriteString(`"; ` + tail + ")")
	if at == single && len(e.inline) == 0 {
		e.out.WriteString(`"'`)
	}
}

// head is the beginning of a compound command, up to its first command.
func (e *emitter) head(branch *parse.BranchNode, isRange bool, outer *[]scopeItem) (string, error) {
	if !isRange {
		condition, err := e.condition(branch.Pipe)
		return "if " + condition + "; then", err
	}
	*outer = append(*outer, scopeItem{e.item, e.itemName})
	if len(branch.Pipe.Cmds) != 1 || len(branch.Pipe.Cmds[0].Args) != 1 || len(branch.Pipe.Decl) > 1 {
		return "", fmt.Errorf("the template {{ range %s }} is not known", branch.Pipe)
	}
	p, err := e.argument(branch.Pipe.Cmds[0].Args[0])
	if err != nil {
		return "", err
	}
	if !p.IsList() {
		return "", fmt.Errorf("{{ range }} over %s, which is no list", p.Name)
	}
	e.arrays[p.Name] = true
	e.item, e.itemName = p.Name, "."
	if len(branch.Pipe.Decl) == 1 {
		e.itemName = branch.Pipe.Decl[0].Ident[0]
	}
	return `for item in "${` + array(p.Name) + `[@]}"; do`, nil
}

// checkWords accepts {{ range list }}"{{ . }}" {{ end }} among other words, which are the values of the list.
func checkWords(node parse.Node) error {
	ranged, ok := node.(*parse.RangeNode)
	if !ok {
		return errors.New("{{ if }} among the words of a command is not known: put it on lines of its own")
	}
	for _, inner := range ranged.List.Nodes {
		text, isText := inner.(*parse.TextNode)
		if isText && strings.Trim(string(text.Text), "\" \t") != "" || !isText && inner.Type() != parse.NodeAction {
			return errors.New("{{ range }} among the words of a command is only known for the values alone")
		}
	}
	return nil
}

// action writes a value with the quotes that its place needs.
func (e *emitter) action(node parse.Node, at place) error {
	var text string
	if ranged, ok := node.(*parse.RangeNode); ok {
		p, err := e.argument(ranged.Pipe.Cmds[0].Args[0])
		if err != nil {
			return err
		}
		text = "${" + definition.Variable(p.Name) + "_JSON:1:-1}"
	} else {
		var err error
		pipe := node.(*parse.ActionNode).Pipe
		if text, err = e.expression(pipe); err != nil {
			return err
		}
		if text == "${item}" && len(e.inline) == 0 && e.words {
			text = "${" + array(e.item) + "[@]}"
		}
	}
	switch {
	case len(e.inline) > 0, at == double, at == document, at == raw:
		e.out.WriteString(text)
	case at == single:
		e.out.WriteString(`'"` + text + `"'`)
	default:
		e.out.WriteString(`"` + text + `"`)
	}
	return nil
}

// isJSONList recognises the values of a list as JSON with commas between them:
//
//	{{ range $i, $x := .Args.list }}{{ if $i }},{{ end }}{{ $x | printf "%q" }}{{ end }}
func isJSONList(node parse.Node) bool {
	r, ok := node.(*parse.RangeNode)
	if !ok || len(r.Pipe.Decl) != 2 || r.ElseList != nil || len(r.List.Nodes) != 2 {
		return false
	}
	comma, isIf := r.List.Nodes[0].(*parse.IfNode)
	value, isAction := r.List.Nodes[1].(*parse.ActionNode)
	if !isIf || !isAction || comma.ElseList != nil || len(comma.List.Nodes) != 1 || comma.Pipe.String() != r.Pipe.Decl[0].String() {
		return false
	}
	text, isText := comma.List.Nodes[0].(*parse.TextNode)
	return isText && strings.TrimSpace(string(text.Text)) == "," && slices.Contains([]string{
		r.Pipe.Decl[1].String() + ` | printf "%q"`, `printf "%q" ` + r.Pipe.Decl[1].String()}, value.Pipe.String())
}
