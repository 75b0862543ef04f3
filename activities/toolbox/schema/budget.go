package schema

import (
	"encoding/json"
	"errors"
	"regexp"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// A running validation cannot be interrupted, and a schema may make it take for ever, because
// nested choices multiply. So each check has a limited number of steps, and more for each value
// that is checked.
const (
	maxSteps     = 200_000
	stepsOfValue = 200
	// sizeOfStep is how much of a value is read in one step.
	sizeOfStep = 64
)

var (
	errTooManySteps = errors.New("to check the arguments takes too many steps")
	errAbsurdNumber = errors.New("a number in it is too long or too large")
)

// budget is the remaining steps of a check. A check holds the mutex.
type budget struct {
	sync.Mutex
	left int
}

// check validates a value. errTooManySteps leaves open whether it is valid.
func (b *budget) check(compiled *jsonschema.Schema, value any) (err error) {
	b.Lock()
	defer b.Unlock()
	b.left = maxSteps + stepsOfValue*count(value)
	defer func() {
		switch r := recover(); r {
		case nil:
		case errTooManySteps:
			err = errTooManySteps
		default:
			panic(r)
		}
	}()
	return compiled.Validate(value)
}

// vocabulary counts every schema object before its references are followed, as a format, which
// is checked first.
func (b *budget) vocabulary() *jsonschema.Vocabulary {
	compile := func(ctx *jsonschema.CompilerContext, object map[string]any) (jsonschema.SchemaExt, error) {
		self, weight := ctx.Enqueue(nil), stepsOf(object)
		counted := &jsonschema.Format{Name: "counted", Validate: func(any) error { return nil }}
		if self.Format != nil {
			*counted = *self.Format
		}
		inner := counted.Validate
		counted.Validate = func(v any) error {
			if b.left -= weight * (1 + size(v)/sizeOfStep); b.left < 0 {
				panic(errTooManySteps)
			}
			return inner(v)
		}
		self.Format = counted
		return nil, nil
	}
	return &jsonschema.Vocabulary{URL: "tool:///budget", Compile: compile}
}

// stepsOf returns the number of steps of a schema object itself.
func stepsOf(object map[string]any) int {
	weight := 1 + len(object)
	for _, part := range object {
		weight += size(part)
	}
	return weight
}

func size(value any) int {
	switch v := value.(type) {
	case string:
		return len(v)
	case []any:
		return len(v)
	case map[string]any:
		return len(v)
	}
	return 0
}

func count(value any) int {
	n := 0
	each(value, func(any) { n++ })
	return n
}

var absurdNumber = regexp.MustCompile(`.{400}|[eE][+-]?0*[1-9][0-9]{3}`)

// hasHugeNumber reports whether a value contains a number that is expensive to compute with,
// such as 1e999999999.
func hasHugeNumber(value any) (found bool) {
	each(value, func(v any) {
		number, ok := v.(json.Number)
		found = found || ok && absurdNumber.MatchString(number.String())
	})
	return found
}

// each visits a value and all values inside it.
func each(value any, visit func(any)) {
	visit(value)
	switch v := value.(type) {
	case map[string]any:
		for _, part := range v {
			each(part, visit)
		}
	case []any:
		for _, part := range v {
			each(part, visit)
		}
	}
}
