package service

import (
	"errors"
	"fmt"
	"strings"
	"unicode"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/record/transcript"
)

// Kinds of failure that no workflow knows.
const (
	KindUnavailable contract.Kind = "unavailable" // Temporal or all workers are away
	KindGone        contract.Kind = "client_gone" // nobody reads the answer
	KindLost        contract.Kind = "lost"        // a stored value is missing or damaged
	KindNoSpace     contract.Kind = "no_space"    // a disk is full
)

// ErrClosing is what those get who wait while the gateway shuts down.
var ErrClosing = errors.New("the gateway is shutting down")

// Error is a failure that the caller is told about.
type Error struct {
	Kind contract.Kind
	Text string // what the caller reads
	Err  error  // the cause, for the log only
}

// Errorf makes an Error. With %w the cause is kept for the log.
func Errorf(kind contract.Kind, format string, args ...any) *Error {
	err := fmt.Errorf(format, args...)
	return &Error{Kind: kind, Text: err.Error(), Err: errors.Unwrap(err)}
}

// Because returns the error with a cause that only the log shows.
func (e *Error) Because(err error) *Error {
	e.Err = err
	return e
}

func (e *Error) Error() string {
	if e.Err == nil {
		return e.Text
	}
	return e.Text + ": " + e.Err.Error()
}

func (e *Error) Unwrap() error { return e.Err }

// IsKind reports whether err is an Error of that kind.
func IsKind(err error, kind contract.Kind) bool {
	var e *Error
	return errors.As(err, &e) && e.Kind == kind
}

const noSpaceText = "no space is left on the disk; nothing that was recorded is lost. Free some space and send the request again, with the same Idempotency-Key if it had one"

// NoSpace is the error of a request that found the disk full.
func NoSpace(cause error) *Error { return &Error{Kind: KindNoSpace, Text: noSpaceText, Err: cause} }

// Explain makes an error for the caller of trouble with what is stored. Others stay as they are.
func Explain(err error) error {
	var known *Error
	if err == nil || errors.As(err, &known) {
		return err
	}
	if loss, ok := transcript.LossIn(err); ok {
		return (&Error{Kind: KindLost, Text: loss.Error()}).Because(err)
	}
	if transcript.NoSpace(err) {
		return NoSpace(err)
	}
	return err
}

// NoConversation is the error of a conversation that is not there.
func NoConversation(id string) *Error {
	return Errorf(contract.KindNotFound, "conversation not found: %s", Printable(id))
}

// NoApproval is the error of an approval that is not there.
func NoApproval(uuid string) *Error {
	return Errorf(contract.KindNotFound, "no conversation found with approval UUID: %s", Printable(uuid))
}

const maxEchoed = 80

// Printable makes a caller's text fit to be repeated in an error.
func Printable(s string) string {
	var b strings.Builder
	for _, r := range s {
		if b.Len() >= maxEchoed {
			return b.String() + "…"
		}
		if r > unicode.MaxASCII || !unicode.IsPrint(r) {
			r = '?'
		}
		b.WriteRune(r)
	}
	return b.String()
}

// BadCursor is the error of a page that no earlier one has led to.
func BadCursor() *Error {
	return Errorf(contract.KindInvalid, "cursor: expected the next_cursor of an earlier page")
}

// Problem says for a reader why a part of a conversation cannot be read.
func Problem(err error) string {
	var known *Error
	if errors.As(Explain(err), &known) {
		return known.Text
	}
	return "a part of the conversation cannot be read; the gateway's log has the details"
}

// InternalText is what callers read of a fault of ours.
const InternalText = "internal error; the gateway's log has the details"

// NoRequest is the error of a request that is not known.
func NoRequest(id string) *Error {
	return Errorf(contract.KindNotFound, "request not found: %s", Printable(id))
}
