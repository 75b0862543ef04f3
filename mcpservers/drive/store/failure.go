package store

import (
	"errors"
	"fmt"
)

// Errors of all stores.
var (
	ErrNotFound = errors.New("there is no such file in the folder")
	// ErrOutside is the error of an ID that leads out of the folder. Its text is that of ErrNotFound: what is
	// outside is nobody's business here.
	ErrOutside = fmt.Errorf("%w", ErrNotFound)
	ErrExists  = errors.New("there is a file with this name already")
	// ErrChanged is the error of a file that has not the version that a call names.
	ErrChanged = errors.New("the file has changed: look at it again, and use its new version")
	ErrFolder  = errors.New("it is a folder")
	ErrBusy    = errors.New("the file is changed by others all the time: try again later")
	// ErrUnknown is part of errors after which it is not known whether something was changed.
	ErrUnknown = errors.New("it is not known whether the change was made")
)

// TooLarge is the error of a file that is larger than what a change may rewrite.
func TooLarge(size, limit int64) error {
	return fmt.Errorf("the file would have %d bytes, at most %d are allowed", size, limit)
}
