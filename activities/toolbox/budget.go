package toolbox

import (
	"encoding/json"
	"errors"
	"regexp"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// Nothing ends a check that has begun, and a schema may make it last for ever:
// choices of choices multiply. So each check has so many steps, and more for each
// value that is checked.
const (
	maxSteps     = 200_000
	stepsOfValue = 200
	// sizeOfStep is how much of a value is looked at in one step.
	sizeOfStep = 64
)

var (
	errTooManySteps = errors.New("to check the arguments takes too many steps")
	errAbsurdNumber = errors.New("a number in it is too long or too large")
)

// budget is what is left of the steps of a check. A check holds the mutex.
type budget struct {
	sync.Mutex
	left int
}

// check validates a value. errTooManySteps tells nothing of it.
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

// vocabulary has every schema object counted before what it refers to is: as a
// format, which is checked first.
func (b *budget) vocabulary() *jsonschema.Vocabulary {
	compile := func(ctx *jsonschema.CompilerContext, object map[string]any) (jsonschema.SchemaExt, error) {
		self, weight := ctx.Enqueue(nil), weigh(object)
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

// weigh counts what a schema object has at hand.
func weigh(object map[string]any) int {
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

// absurd tells of a number that nobody means, and that would take long to reckon
// with.
func absurd(value any) (found bool) {
	each(value, func(v any) {
		number, ok := v.(json.Number)
		found = found || ok && absurdNumber.MatchString(number.String())
	})
	return found
}

// each visits a value and all that is inside it.
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
