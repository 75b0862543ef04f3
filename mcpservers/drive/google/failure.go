package google

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"

	"agent-stop-and-go/mcpservers/drive/store"
	"agent-stop-and-go/mcpservers/hosting/excerpt"

	"google.golang.org/api/googleapi"
)

func isStatus(err error, status int) bool {
	var answer *googleapi.Error
	return errors.As(err, &answer) && answer.Code == status
}

// explain says what the error of a request means. That of a change of which something was sent, and which was not
// refused, has [store.ErrUnknown]. ctx is that of the request.
func (d *Drive) explain(ctx context.Context, err error) error {
	if err == nil || errors.Is(err, store.ErrUnknown) {
		return err
	}
	var answer *googleapi.Error
	c := changeOf(ctx)
	if !errors.As(err, &answer) {
		var inner *url.Error
		if errors.As(err, &inner) { // its URL has the query
			err = inner.Err
		}
		if errors.Is(err, errCredential) {
			return err
		}
		err = fmt.Errorf("no answer of Google Drive: %w", err)
		if c != nil && c.sent.Load() {
			return fmt.Errorf("%w: %w", store.ErrUnknown, err)
		}
		return err
	}
	if c != nil && answer.Code >= 500 {
		return fmt.Errorf("%w: the answer of Google Drive is %d: %s", store.ErrUnknown, answer.Code, excerpt.Line(answer.Message, 200))
	}
	return d.refusal(answer)
}

func (d *Drive) refusal(answer *googleapi.Error) error {
	reason := ""
	if len(answer.Errors) > 0 {
		reason = answer.Errors[0].Reason
	}
	text := excerpt.Line(answer.Message, 300)
	switch {
	case answer.Code == http.StatusNotFound:
		return store.ErrNotFound
	case answer.Code == http.StatusUnauthorized && d.config.Credential.PerCaller():
		return errors.New("the login at Google Drive has ended: log in again")
	case answer.Code == http.StatusTooManyRequests, slices.Contains([]string{"rateLimitExceeded", "userRateLimitExceeded"}, reason):
		return errors.New("too many requests for Google Drive: try again later")
	case reason == "storageQuotaExceeded":
		return fmt.Errorf("%s has no room left at Google Drive (a service account has none of its own: take a folder of a shared drive, or act in the name of a person)", d.config.Credential.Who())
	case reason == "insufficientFilePermissions", reason == "insufficientPermissions":
		return fmt.Errorf("%s may not do that at Google Drive: %s", d.config.Credential.Who(), text)
	}
	return fmt.Errorf("the answer of Google Drive is %d %s: %s", answer.Code, reason, text)
}
