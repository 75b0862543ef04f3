package toolbox

import (
	"context"
	"encoding/json"
	"fmt"

	"agent-stop-and-go/activities/bearer"
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
	schema := t.schemas.of(tool)
	coerced := schema.coerce(value)
	if problem := schema.problem(coerced); problem != "" {
		return args, problem
	}
	fixed, err = encode(coerced)
	if err != nil {
		return args, err.Error()
	}
	return fixed, ""
}
