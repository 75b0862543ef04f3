package service

import (
	"errors"
	"fmt"
	"runtime/debug"
)

// Panic is a recovered panic. Its text does not contain the stack.
type Panic struct {
	Value any
	Stack []byte
}

func (p *Panic) Error() string { return fmt.Sprintf("panic: %v", p.Value) }

// Guard calls f and returns a panic as an error (*Panic).
func Guard(f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = &Panic{p, debug.Stack()}
		}
	}()
	return f()
}

// IsPanic reports whether err is a panic that Guard recovered.
func IsPanic(err error) bool {
	var p *Panic
	return errors.As(err, &p)
}
