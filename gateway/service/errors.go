package service

import (
	"errors"
	"fmt"
	"runtime/debug"
	"strings"
	"time"
	"unicode"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/deletion"
	"agent-stop-and-go/workflows/record/transcript"
)

// Error kinds besides those of the workflows.
const (
	KindUnavailable contract.Kind = "unavailable" // Temporal or all workers do not answer
	KindGone        contract.Kind = "client_gone" // the client has disconnected
	KindLost        contract.Kind = "lost"        // a stored value is missing or damaged
	KindNoSpace     contract.Kind = "no_space"    // a disk is full
	KindAmbiguous   contract.Kind = "ambiguous"   // a short ID means several conversations
)

// ErrClosing ends every wait when the gateway shuts down.
var ErrClosing = errors.New("the gateway is shutting down")

// Error is an error for the caller.
type Error struct {
	Kind contract.Kind
	Text string // for the caller
	Err  error  // the cause, for the log only
	// RetryAfter is when to send the request again; 0 if that is not known.
	RetryAfter time.Duration
}

// Errorf makes an Error. An error wrapped with %w becomes the cause for the log.
func Errorf(kind contract.Kind, format string, args ...any) *Error {
	err := fmt.Errorf(format, args...)
	return &Error{Kind: kind, Text: err.Error(), Err: errors.Unwrap(err)}
}

// Busy returns the error of a request that is to be sent again after a time.
func Busy(wait time.Duration, format string, args ...any) *Error {
	seconds := max(1, (wait+time.Second-1)/time.Second)
	err := Errorf(contract.KindBusy, "%s; try again in %d s", fmt.Sprintf(format, args...), seconds)
	err.RetryAfter = seconds * time.Second
	return err
}

// Because sets the cause, which only the log shows.
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

// IsKind reports whether err is an Error of a kind.
func IsKind(err error, kind contract.Kind) bool {
	var e *Error
	return errors.As(err, &e) && e.Kind == kind
}

const noSpaceText = "no space is left on the disk; nothing that was recorded is lost. Free some space and send the request again, with the same Idempotency-Key if it had one"

// NoSpace returns the error for a full disk.
func NoSpace(cause error) *Error { return &Error{Kind: KindNoSpace, Text: noSpaceText, Err: cause} }

// Explain replaces errors of stored values, such as a missing value or a full disk, by an
// Error. Other errors are returned unchanged.
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

// NoConversation returns the error for an unknown conversation.
func NoConversation(id string) *Error {
	return Errorf(contract.KindNotFound, "conversation not found: %s", Printable(id))
}

// NoApproval returns the error for an unknown approval.
func NoApproval(uuid string) *Error {
	return Errorf(contract.KindNotFound, "no conversation found with approval UUID: %s", Printable(uuid))
}

const maxEchoed = 80

// Printable makes a caller's text safe to repeat in an error.
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

// BadCursor returns the error for a cursor that no page returned.
func BadCursor() *Error {
	return Errorf(contract.KindInvalid, "cursor: expected the next_cursor of an earlier page")
}

// Problem describes to a reader why a part of a conversation cannot be read.
func Problem(err error) string {
	var known *Error
	if errors.As(Explain(err), &known) {
		return known.Text
	}
	return "a part of the conversation cannot be read; the gateway's log has the details"
}

// InternalText is what callers get for an internal error.
const InternalText = "internal error; the gateway's log has the details"

// NoRequest returns the error for an unknown request.
func NoRequest(id string) *Error {
	return Errorf(contract.KindNotFound, "request not found: %s", Printable(id))
}

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

// Deleted returns the error for a conversation that was deleted.
func Deleted(t deletion.Tombstone) error {
	return &Gone{&Error{Kind: deletion.KindDeleted, Text: t.Text()}, t}
}

// Gone is the error for a conversation that was deleted, with its tombstone.
type Gone struct {
	Cause     *Error
	Tombstone deletion.Tombstone
}

func (g *Gone) Error() string { return g.Cause.Error() }

func (g *Gone) Unwrap() error { return g.Cause }

// TombstoneIn returns the tombstone of the conversation that an error is about, if it was deleted.
func TombstoneIn(err error) (t deletion.Tombstone, ok bool) {
	var gone *Gone
	if errors.As(err, &gone) {
		return gone.Tombstone, true
	}
	return t, false
}
