package service

import (
	"errors"
	"fmt"
	"runtime/debug"
)

// Panic is a panic as an error. Whoever reads the error learns nothing of the stack.
type Panic struct {
	Value any
	Stack []byte
}

func (p *Panic) Error() string { return fmt.Sprintf("panic: %v", p.Value) }

// Guard makes an error of a panic (*Panic).
func Guard(f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = &Panic{p, debug.Stack()}
		}
	}()
	return f()
}

// IsPanic reports whether an error is that of Guard.
func IsPanic(err error) bool {
	var p *Panic
	return errors.As(err, &p)
}
