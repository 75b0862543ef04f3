package engine

import "errors"

// ErrUnknown is part of errors after which it is not known whether a statement ran.
var ErrUnknown = errors.New("it is not known whether the statement ran")

// ErrChanges is part of the error of a read that the engine did not let change something.
var ErrChanges = errors.New("the statement may change something")
