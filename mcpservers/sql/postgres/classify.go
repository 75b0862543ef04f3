package postgres

import (
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"

	"agent-stop-and-go/mcpservers/sql/statement"

	"github.com/wasilibs/go-pgquery/parser"
)

//go:embed functions.txt
var functionList string

// harmless has the functions of functions.txt.
var harmless = sync.OnceValue(func() map[string]bool {
	out := map[string]bool{}
	for line := range strings.Lines(functionList) {
		if !strings.HasPrefix(line, "#") {
			for _, name := range strings.Fields(line) {
				out[name] = true
			}
		}
	}
	return out
})

// syntax is how PostgreSQL writes words, with standard_conforming_strings on.
var syntax = statement.Syntax{Dollar: true, Nested: true}

// parsing allows one parse at a time: every further instance of the parser would be compiled
// for two seconds, and a parse takes a fraction of a millisecond.
var parsing sync.Mutex

// Limits of a tree. Both together fit into the stack of the parser: nested queries alone overflow
// it at a depth of 180, and chains at 540 joins. It would trap, or go on for ever.
const (
	maxBrackets = 60
	maxChain    = 300
)

// broken is set when the parser failed. Its state is not known then, and nothing is parsed any more.
var broken atomic.Bool

// parse returns the tree of libpg_query as JSON. A failure inside of the parser is an error.
func parse(text string) (tree string, err error) {
	if strings.ContainsRune(text, 0) {
		return "", errors.New("the statement contains a null byte")
	}
	if brackets, chain := syntax.Depth(text); brackets > maxBrackets || chain > maxChain {
		return "", fmt.Errorf("the statement is too complex: brackets %d deep (at most %d), %d operators and keywords (at most %d)", brackets, maxBrackets, chain, maxChain)
	}
	parsing.Lock()
	defer parsing.Unlock()
	if broken.Load() {
		return "", errors.New("the parser failed before; restart the server")
	}
	defer func() {
		if p := recover(); p != nil {
			broken.Store(true)
			err = fmt.Errorf("the parser failed: %v", p)
		}
	}()
	return parser.ParseToJSON(text)
}

// Warm compiles the parser, which takes seconds once.
func Warm() { _, _ = parse("SELECT 1") }

// Classify parses one statement. extra names further functions that are harmless. A text that
// PostgreSQL's grammar does not have is Unknown. It is an error if there is no statement or more
// than one.
func Classify(text string, extra ...string) (statement.Facts, error) {
	normalized := syntax.Normalize(text)
	tree, err := parse(text)
	if err != nil {
		return statement.NotUnderstood(err.Error(), normalized), nil
	}
	var parsed struct {
		Stmts []struct {
			Stmt map[string]any `json:"stmt"`
		} `json:"stmts"`
	}
	if err := json.Unmarshal([]byte(tree), &parsed); err != nil {
		return statement.NotUnderstood("the tree of the parser is not readable: "+err.Error(), normalized), nil
	}
	if n := len(parsed.Stmts); n != 1 {
		return statement.Facts{}, statement.CountError(n)
	}
	w := walker{extra: map[string]bool{}}
	for _, name := range extra {
		w.extra[strings.ToLower(name)] = true
	}
	w.statement(parsed.Stmts[0].Stmt)
	w.resolve()
	return w.Facts(normalized), nil
}
