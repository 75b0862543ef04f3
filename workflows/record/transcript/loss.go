package transcript

import (
	"errors"
	"fmt"
	"syscall"

	"agent-stop-and-go/workflows/contract"
)

// Loss is the error of a Store that cannot return a stored value.
type Loss struct {
	contract.Blob
	Why string // a clause whose subject is the value, such as "it is not in the blob store"
	Err error  // the store's own error
}

func (l *Loss) Error() string {
	return fmt.Sprintf("the stored value %s (%d bytes) is lost: %s", l.SHA256, l.Size, l.Why)
}

func (l *Loss) Unwrap() error { return l.Err }

// LossIn finds the loss behind an error.
func LossIn(err error) (*Loss, bool) {
	var loss *Loss
	ok := errors.As(err, &loss)
	return loss, ok
}

// NoSpace reports whether a write has failed because a disk or a quota is full.
func NoSpace(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}
