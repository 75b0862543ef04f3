package toolbox

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"sync"

	"agent-stop-and-go/activities/bearer"
	"agent-stop-and-go/activities/toolbox/schema"
)

// Check fits arguments to a tool's schema. It returns them in canonical form, with numbers,
// booleans and strings converted to the schema's type if that loses nothing, or else the
// original arguments and one line that tells a model what is wrong. It neither waits nor calls
// the server. Of tools that are listed only with a token, it knows those that Tools returned
// for the tokens of bearer.NewContext.
func (t *Toolbox) Check(ctx context.Context, name string, args json.RawMessage) (fixed json.RawMessage, problem string) {
	tool, ok := t.find(name, bearer.FromContext(ctx))
	if !ok {
		return args, fmt.Sprintf("unknown tool %q", name)
	}
	value, err := decodeArguments(args)
	if err != nil {
		return args, err.Error()
	}
	fits := t.schemas.of(tool)
	coerced := fits.Coerce(value)
	if problem := fits.Problem(coerced); problem != "" {
		return args, problem
	}
	fixed, err = encode(coerced)
	if err != nil {
		return args, err.Error()
	}
	return fixed, ""
}

// schemas keeps the last schema of each tool.
type schemas struct {
	logger *slog.Logger
	mu     sync.Mutex
	cache  map[string]*schema.Schema
}

func (s *schemas) of(tool Tool) *schema.Schema {
	key := tool.Server + "\x00" + tool.Name
	s.mu.Lock()
	defer s.mu.Unlock()
	if known := s.cache[key]; known != nil && known.Is(tool.InputSchema) {
		return known
	}
	made, err := schema.New(tool.InputSchema)
	if err != nil {
		s.logger.Warn("the schema of a tool is not valid, its arguments are not checked",
			"server", tool.Server, "tool", tool.Name, "error", err)
	}
	if s.cache == nil {
		s.cache = map[string]*schema.Schema{}
	}
	s.cache[key] = made
	return made
}
