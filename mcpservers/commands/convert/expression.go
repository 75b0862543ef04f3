package convert

import (
	"fmt"
	"strconv"
	"strings"
	"text/template/parse"

	"agent-stop-and-go/mcpservers/commands/definition"
)

// scope knows the arguments, and what the templates have used.
type scope struct {
	parameters definition.Parameters
	arrays     map[string]bool // arguments whose values are needed as an array
	env        map[string]bool // variables of the server
	item       string          // parameter of the surrounding range, ""
	itemName   string          // its variable in the template: "." or "$x"
}

// expression returns the inside of a word in double quotes.
func (s *scope) expression(pipe *parse.PipeNode) (string, error) {
	if len(pipe.Decl) > 0 || len(pipe.Cmds) == 0 || len(pipe.Cmds) > 2 {
		return "", fmt.Errorf("the template {{ %s }} is not known", pipe)
	}
	operand, function, parameter, err := split(pipe)
	if err != nil {
		return "", err
	}
	if name, ok := field(operand, "Env"); ok && function == "" {
		s.env[name] = true
		return "${" + name + "}", nil
	}
	if s.isItem(operand) {
		if function != "" {
			return "", fmt.Errorf("the template {{ %s }} is not known", pipe)
		}
		return "${item}", nil
	}
	p, err := s.argument(operand)
	if err != nil {
		return "", err
	}
	variable := definition.Variable(p.Name)
	switch {
	case function == "printf" && parameter == "%q", function == "toJson" || function == "toJSON":
		return "${" + variable + "_JSON}", nil
	case function == "printf" && (parameter == "%s" || parameter == "%v" || parameter == "%d") && !p.IsList(), function == "" && !p.IsList():
		return "${" + variable + "}", nil
	case function == "date" && p.Type == "date" && parameter == "2006-01-02":
		return "${" + variable + "}", nil
	case function == "base" && !p.IsList():
		return "$(basename -- \"${" + variable + "}\")", nil
	case function == "join" && p.IsList() && len(parameter) == 1 && !strings.ContainsAny(parameter, "'\\\"`$"):
		s.arrays[p.Name] = true
		return "$(IFS='" + parameter + "'; printf '%s' \"${" + array(p.Name) + "[*]}\")", nil
	case function == "join" && p.IsList() && !strings.ContainsAny(parameter, "'\\\"`$"):
		s.arrays[p.Name] = true
		return "$(s=''; for v in \"${" + array(p.Name) + "[@]}\"; do printf '%s%s' \"$s\" \"$v\"; s='" + parameter + "'; done)", nil
	case function == "join" && p.IsList():
		return "", fmt.Errorf("the template {{ %s }} is not known: a separator has no quote, backslash or $", pipe)
	case function == "" && p.IsList():
		s.arrays[p.Name] = true
		return "${" + array(p.Name) + "[*]}", nil
	}
	return "", fmt.Errorf("the template {{ %s }} is not known", pipe)
}

// split takes "x", "x | f", "x | f a" and "f a x" apart.
func split(pipe *parse.PipeNode) (operand parse.Node, function, parameter string, err error) {
	unknown := fmt.Errorf("the template {{ %s }} is not known", pipe)
	last := pipe.Cmds[len(pipe.Cmds)-1].Args
	if len(pipe.Cmds) == 1 && len(last) == 1 {
		return last[0], "", "", nil
	}
	id, ok := last[0].(*parse.IdentifierNode)
	if !ok {
		return nil, "", "", unknown
	}
	rest := last[1:]
	if len(pipe.Cmds) == 2 {
		if len(pipe.Cmds[0].Args) != 1 {
			return nil, "", "", unknown
		}
		operand = pipe.Cmds[0].Args[0]
	} else if len(rest) > 0 {
		operand, rest = rest[len(rest)-1], rest[:len(rest)-1]
	}
	if operand == nil || len(rest) > 1 {
		return nil, "", "", unknown
	}
	if len(rest) == 1 {
		text, ok := rest[0].(*parse.StringNode)
		if !ok {
			return nil, "", "", unknown
		}
		parameter = text.Text
	}
	return operand, id.Ident, parameter, nil
}

// field returns the name in .Args.name or .Env.name.
func field(node parse.Node, of string) (string, bool) {
	switch n := node.(type) {
	case *parse.FieldNode:
		if len(n.Ident) == 2 && n.Ident[0] == of {
			return n.Ident[1], true
		}
	case *parse.VariableNode: // $.Args.name
		if len(n.Ident) == 3 && n.Ident[0] == "$" && n.Ident[1] == of {
			return n.Ident[2], true
		}
	}
	return "", false
}

func (s *scope) isItem(node parse.Node) bool {
	if s.item == "" {
		return false
	}
	switch n := node.(type) {
	case *parse.DotNode:
		return true
	case *parse.VariableNode:
		return len(n.Ident) == 1 && n.Ident[0] == s.itemName
	}
	return false
}

func (s *scope) argument(node parse.Node) (*definition.Parameter, error) {
	name, ok := field(node, "Args")
	if !ok {
		return nil, fmt.Errorf("the template {{ %s }} is not known", node)
	}
	p := s.parameters.Get(name)
	if p == nil {
		p = s.parameters.Get(strings.ReplaceAll(name, "_", "-"))
	}
	if p == nil {
		return nil, fmt.Errorf("there is no argument %s", name)
	}
	return p, nil
}

// array is the name of a list's array in a script.
func array(argument string) string {
	return "ARGS_" + strings.TrimPrefix(definition.Variable(argument), "ARG_")
}

// condition returns a command of the shell that is true when the template is.
func (s *scope) condition(pipe *parse.PipeNode) (string, error) {
	if len(pipe.Cmds) != 1 || len(pipe.Decl) > 0 {
		return "", fmt.Errorf("the condition {{ %s }} is not known", pipe)
	}
	return s.test(pipe.Cmds[0].Args)
}

func (s *scope) test(args []parse.Node) (string, error) {
	if len(args) == 1 {
		if inner, ok := args[0].(*parse.PipeNode); ok {
			return s.condition(inner)
		}
		return s.truth(args[0])
	}
	id, ok := args[0].(*parse.IdentifierNode)
	if !ok {
		return "", fmt.Errorf("the condition %s is not known", args[0])
	}
	switch {
	case id.Ident == "not" && len(args) == 2:
		inner, err := s.test(args[1:])
		return "! " + inner, err
	case (id.Ident == "and" || id.Ident == "or") && len(args) > 2:
		var parts []string
		for _, arg := range args[1:] {
			part, err := s.test([]parse.Node{arg})
			if err != nil {
				return "", err
			}
			parts = append(parts, part)
		}
		return "{ " + strings.Join(parts, map[string]string{"and": " && ", "or": " || "}[id.Ident]) + "; }", nil
	case len(args) == 3:
		return s.comparison(id.Ident, args[1], args[2])
	}
	return "", fmt.Errorf("the condition %s is not known", id.Ident)
}

func (s *scope) truth(node parse.Node) (string, error) {
	if s.isItem(node) {
		return `[ -n "${item}" ]`, nil
	}
	if name, ok := field(node, "Env"); ok {
		s.env[name] = true
		return `[ -n "${` + name + `}" ]`, nil
	}
	p, err := s.argument(node)
	if err != nil {
		return "", err
	}
	variable := definition.Variable(p.Name)
	switch {
	case p.IsList():
		return `[ "${` + variable + `_COUNT}" -gt 0 ]`, nil
	case p.IsBool():
		return `[ "${` + variable + `}" = true ]`, nil
	case p.Type == "int" || p.Type == "integer" || p.Type == "float" || p.Type == "number":
		return `[ "${` + variable + `:-0}" != 0 ]`, nil
	}
	return `[ -n "${` + variable + `}" ]`, nil
}

func (s *scope) comparison(function string, left, right parse.Node) (string, error) {
	operator, ok := map[string]string{"eq": "=", "ne": "!=", "gt": "-gt", "ge": "-ge", "lt": "-lt", "le": "-le"}[function]
	if !ok {
		return "", fmt.Errorf("the condition %s is not known", function)
	}
	a, err := s.operand(left)
	if err != nil {
		return "", err
	}
	b, err := s.operand(right)
	return "[ " + a + " " + operator + " " + b + " ]", err
}

func (s *scope) operand(node parse.Node) (string, error) {
	switch n := node.(type) {
	case *parse.StringNode:
		return "'" + strings.ReplaceAll(n.Text, "'", `'\''`) + "'", nil
	case *parse.NumberNode:
		return n.Text, nil
	case *parse.BoolNode:
		return strconv.FormatBool(n.True), nil
	}
	if s.isItem(node) {
		return `"${item}"`, nil
	}
	p, err := s.argument(node)
	if err != nil {
		return "", err
	}
	if p.IsList() {
		return "", fmt.Errorf("the list %s is compared with something", p.Name)
	}
	return `"${` + definition.Variable(p.Name) + `}"`, nil
}
