package telemetry

import (
	"errors"

	"agent-stop-and-go/workflows/contract"
)

// FailureOf returns the kind of an error that is or wraps an E, KindInternal for any other
// error, and "" for none.
func FailureOf[E error](err error, kind func(E) contract.Kind) contract.Kind {
	var known E
	switch {
	case err == nil:
		return ""
	case errors.As(err, &known):
		return kind(known)
	}
	return contract.KindInternal
}
