package toolbox

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"agent-stop-and-go/activities/toolbox/facts"
)

// isSource reports whether a tool tells facts, and cannot be called therefore.
func (l *link) isSource(bare string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Contains(l.list.sources, bare)
}

// Facts asks the server of a tool for the facts of a name about a call. The error contains no
// secrets.
func (t *Toolbox) Facts(ctx context.Context, tool Tool, name string, args json.RawMessage, bearer string) (facts.Answer, error) {
	source, ok := tool.Facts[name]
	l := t.link(tool.Server)
	if !ok || l == nil {
		return facts.Answer{}, fmt.Errorf("%s tells no facts %s of %s", tool.Server, name, tool.Name)
	}
	question, err := facts.Question(l.server.bareName(tool.Name), args)
	if err != nil {
		return facts.Answer{}, err
	}
	v := l.ask(ctx, request{who: caller{bearer: bearer}, send: func(ctx context.Context, conn *conn, x *trace) error {
		return conn.call(ctx, x, Call{Server: tool.Server, Tool: l.server.toolName(source.Tool), Bearer: bearer}, question, &openQuestions{})
	}})
	hidden := l.mask(bearer)
	out := facts.Answer{}
	switch {
	case v.answer != nil:
		out, err = facts.Read(v.answer, hidden.JSON)
	case v.err != nil:
		err = v.err
	default:
		err = errors.New(v.result.Text)
	}
	if err != nil {
		err = hideSecrets(fmt.Errorf("%s: %w", tool.Server, err), hidden)
	}
	return out, err
}
