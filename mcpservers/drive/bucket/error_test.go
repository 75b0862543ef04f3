package bucket

import (
	"errors"
	"net"
	"net/url"
	"strings"
	"testing"

	"gocloud.dev/gcerrors"

	"agent-stop-and-go/mcpservers/drive/store"
)

// The address of a request may have a signature. And an object is not missing because its host is.
func TestNoAddressOfARequestIsInAnError(t *testing.T) {
	lost := &net.DNSError{Err: "no such host", Name: "account.example", IsNotFound: true}
	err := error(&url.Error{Op: "Put", URL: "https://account.example/files/a?sv=1&sig=SECRET", Err: lost})
	b := &Bucket{name: "files"}
	for name, got := range map[string]error{"explain": b.explain(err), "bare": bare(err), "changed": b.changed(errors.Join(err))} {
		if got == nil || strings.Contains(got.Error(), "SECRET") || !errors.Is(got, lost) || errors.Is(got, store.ErrNotFound) {
			t.Errorf("%s: %v", name, got)
		}
	}
	if code(err) != gcerrors.Unknown || code(nil) != gcerrors.OK {
		t.Errorf("codes: %v, %v", code(err), code(nil))
	}
}
