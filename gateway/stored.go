package gateway

import (
	"errors"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/transcript"
)

// Kinds of trouble with what is stored.
const (
	KindLost    contract.Kind = "lost"     // a stored value is missing or damaged
	KindNoSpace contract.Kind = "no_space" // a disk is full
)

const noSpaceText = "no space is left on the disk: this request was not recorded, and nothing recorded before is lost; free some space and send it again"

// explained returns the error that the caller is told about: of trouble with what is
// stored, what it is. Others stay as they are.
func explained(err error) error {
	var known *Error
	if err == nil || errors.As(err, &known) {
		return err
	}
	if loss, ok := transcript.LossIn(err); ok {
		return (&Error{Kind: KindLost, Text: loss.Error()}).because(err)
	}
	if transcript.NoSpace(err) {
		return (&Error{Kind: KindNoSpace, Text: noSpaceText}).because(err)
	}
	return err
}
