package convert

import (
	"fmt"
	"strconv"
	"strings"

	"agent-stop-and-go/mcpservers/commands/script"

	"mvdan.cc/sh/v3/syntax"
)

// fragment is text that a shell would read as a part of a command. Expansions are placeholders in it.
type fragment struct {
	text       string
	expansions []syntax.WordPart
}

func (f fragment) spaceBefore() bool { return strings.TrimLeft(f.text, " \t") != f.text }
func (f fragment) spaceAfter() bool  { return strings.TrimRight(f.text, " \t") != f.text }

// collected returns the names of the variables in a fragment.
func (f fragment) collected() (names []string) {
	for _, part := range f.expansions {
		if name := variableOf(part); name != "" {
			names = append(names, name)
		}
	}
	return names
}

// fragment takes the text out of a word, without the quotes of the script.
func (a *assembly) fragment(parts []syntax.WordPart) fragment {
	var f fragment
	var b strings.Builder
	a.addParts(&b, &f, parts, false)
	f.text = b.String()
	return f
}

func (a *assembly) addParts(b *strings.Builder, f *fragment, parts []syntax.WordPart, quoted bool) {
	for _, part := range parts {
		switch p := part.(type) {
		case *syntax.Lit:
			b.WriteString(unescape(p.Value, quoted))
		case *syntax.SglQuoted:
			a.known = a.known && !p.Dollar
			b.WriteString(p.Value)
		case *syntax.DblQuoted:
			a.known = a.known && !p.Dollar
			a.addParts(b, f, p.Parts, true)
		default:
			fmt.Fprintf(b, "QZ%dQZ", len(f.expansions))
			f.expansions = append(f.expansions, part)
		}
	}
}

// unescape removes the backslashes of the script. In "…" they only are some before a few characters.
func unescape(text string, quoted bool) string {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] == '\\' && i+1 < len(text) && (!quoted || strings.ContainsRune("\"$`\\\n", rune(text[i+1]))) {
			i++
			if text[i] == '\n' {
				continue
			}
		}
		b.WriteByte(text[i])
	}
	return b.String()
}

// literal is the text of a fragment between its expansions.
func (a *assembly) literal(parts []syntax.WordPart) (string, bool) {
	known := a.known
	f := a.fragment(parts)
	a.known = known
	return placeholder.ReplaceAllString(f.text, ""), len(f.expansions) == 0
}

// words returns the words of a fragment and its redirections, each with the quotes that it needs.
func (a *assembly) words(f fragment) (words, redirects []string) {
	file, err := script.Parse(f.text, false)
	if err != nil || len(file.Stmts) > 1 || len(file.Last) > 0 {
		a.known = false
		return nil, nil
	}
	if len(file.Stmts) == 0 {
		return nil, nil
	}
	stmt := file.Stmts[0]
	call, ok := stmt.Cmd.(*syntax.CallExpr)
	if !ok && stmt.Cmd != nil || stmt.Negated || stmt.Background || stmt.Coprocess || stmt.Semicolon.IsValid() || len(stmt.Comments) > 0 || ok && len(call.Assigns) > 0 {
		a.known = false
		return nil, nil
	}
	if ok {
		for _, w := range call.Args {
			words = append(words, a.word(f, w))
		}
	}
	for _, r := range stmt.Redirs {
		if r.Hdoc != nil {
			a.known = false
			continue
		}
		number := ""
		if r.N != nil {
			number = r.N.Value
		}
		space := " "
		if r.Op == syntax.DplOut || r.Op == syntax.DplIn {
			space = ""
		}
		redirects = append(redirects, number+r.Op.String()+space+a.word(f, r.Word))
	}
	return words, redirects
}

// word writes a word of a fragment. An expansion that is a word of its own is an array if it collects words, else
// one value.
func (a *assembly) word(f fragment, w *syntax.Word) string {
	if m := placeholder.FindStringSubmatch(w.Lit()); m != nil && m[0] == w.Lit() {
		n, _ := strconv.Atoi(m[1])
		if name := variableOf(f.expansions[n]); name != "" && a.collects(name) {
			a.enqueue(name)
			return `"${` + name + `[@]}"`
		}
	}
	var b strings.Builder
	for _, part := range w.Parts {
		from, to := part.Pos().Offset(), part.End().Offset()
		text := f.text[from:to]
		switch p := part.(type) {
		case *syntax.Lit:
			a.enqueueParts(f, text)
			b.WriteString(a.expand(f, text, `"`, `"`))
		case *syntax.SglQuoted:
			b.WriteString(strings.ReplaceAll(a.expand(f, text, `'"`, `"'`), "''", ""))
		case *syntax.DblQuoted:
			if placeholder.MatchString(text) && !literals(p.Parts) {
				a.known = false
			}
			b.WriteString(a.expand(f, text, "", ""))
		default:
			a.known = a.known && !placeholder.MatchString(text)
			b.WriteString(text)
		}
	}
	if b.Len() == 0 {
		return "''"
	}
	return b.String()
}

// enqueueParts has a variable that collects words, in the middle of a word, contradict its use as a value.
func (a *assembly) enqueueParts(f fragment, text string) {
	for _, m := range placeholder.FindAllStringSubmatch(text, -1) {
		n, _ := strconv.Atoi(m[1])
		if name := variableOf(f.expansions[n]); name != "" && a.collects(name) {
			a.enqueue(name)
		}
	}
}

func literals(parts []syntax.WordPart) bool {
	for _, p := range parts {
		if _, ok := p.(*syntax.Lit); !ok {
			return false
		}
	}
	return true
}

// expand puts the expansions back, between quotes.
func (a *assembly) expand(f fragment, text, open, end string) string {
	return placeholder.ReplaceAllStringFunc(text, func(mark string) string {
		n, _ := strconv.Atoi(placeholder.FindStringSubmatch(mark)[1])
		part := f.expansions[n]
		if name := variableOf(part); name != "" {
			a.values[name] = true
			return open + "${" + name + "}" + end
		}
		a.copied = append(a.copied, part)
		return open + a.text[part.Pos().Offset():part.End().Offset()] + end
	})
}

// variableOf returns NAME of $NAME and ${NAME}, "" for other parts.
func variableOf(part syntax.WordPart) string {
	p, ok := part.(*syntax.ParamExp)
	if !ok || p.Param == nil || p.Excl || p.Length || p.Width || p.Index != nil || p.Slice != nil || p.Repl != nil || p.Names != 0 || p.Exp != nil {
		return ""
	}
	return p.Param.Value
}

func first(parts []syntax.WordPart) syntax.WordPart {
	if len(parts) == 0 {
		return nil
	}
	return parts[0]
}
