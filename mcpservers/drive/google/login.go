package google

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"agent-stop-and-go/mcpservers/hosting/auth"
)

// issuer is where people log in.
const issuer = "https://accounts.google.com"

// Login says which logins of people are taken.
type Login struct {
	// ClientIDs are those that Google must have issued a token to. A token for another program is refused, so
	// that nobody passes on what somebody else has let another program do.
	ClientIDs []string
	// Resource is the URL by which clients know the server.
	Resource string
	// Endpoint is another address that tells of tokens; "" for that of Google.
	Endpoint string
}

// NewGuard returns a guard that asks Google whose a token is. A token that it knows is asked for again after
// rememberFor, or when it ends.
func NewGuard(l Login) *auth.Guard {
	k := &known{login: l, client: &http.Client{Timeout: 10 * time.Second, CheckRedirect: stay}, holders: map[[32]byte]remembered{}}
	return auth.Verified(auth.Settings{Issuer: issuer, Scopes: []string{Scope}, Resource: l.Resource}, k.holder)
}

// stay follows no redirect: the address, which is sent to the next host as the Referer, has the token.
func stay(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

const (
	rememberFor = 2 * time.Minute
	maxHolders  = 10_000
)

// known are tokens that Google has told of, by digest.
type known struct {
	login  Login
	client *http.Client

	mu      sync.Mutex
	holders map[[32]byte]remembered
}

type remembered struct {
	auth.Holder
	until time.Time
}

func (k *known) holder(ctx context.Context, token string) (auth.Holder, error) {
	digest, now := sha256.Sum256([]byte(token)), time.Now()
	k.mu.Lock()
	r, ok := k.holders[digest]
	k.mu.Unlock()
	if ok && now.Before(r.until) {
		return r.Holder, nil
	}
	h, err := k.ask(ctx, token)
	if err != nil {
		return h, err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(k.holders) >= maxHolders {
		clear(k.holders)
	}
	k.holders[digest] = remembered{h, now.Add(min(rememberFor, time.Until(h.Expires)))}
	return h, nil
}

// ask asks what a token is (https://oauth2.googleapis.com/tokeninfo). Errors have no address: the token is in it.
func (k *known) ask(ctx context.Context, token string) (auth.Holder, error) {
	address := cmp.Or(strings.TrimSuffix(k.login.Endpoint, "/"), "https://oauth2.googleapis.com") + "/tokeninfo?access_token=" + url.QueryEscape(token)
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return auth.Holder{}, errors.New("ask Google for a token: it cannot be sent")
	}
	response, err := k.client.Do(request)
	if err != nil {
		var inner *url.Error
		if errors.As(err, &inner) {
			err = inner.Err
		}
		return auth.Holder{}, fmt.Errorf("ask Google for a token: %w", err)
	}
	defer response.Body.Close()
	if response.StatusCode == http.StatusBadRequest || response.StatusCode == http.StatusUnauthorized {
		return auth.Holder{}, fmt.Errorf("%w: Google does not know it, or it has ended", auth.ErrRefused)
	}
	var info struct {
		Audience string `json:"aud"`
		Subject  string `json:"sub"`
		Email    string `json:"email"`
		Scope    string `json:"scope"`
		Expires  string `json:"exp"`
	}
	if err := json.NewDecoder(io.LimitReader(response.Body, 64<<10)).Decode(&info); err != nil || response.StatusCode != http.StatusOK {
		return auth.Holder{}, fmt.Errorf("ask Google for a token: status %d", response.StatusCode)
	}
	if !slices.Contains(k.login.ClientIDs, info.Audience) {
		return auth.Holder{}, fmt.Errorf("%w: Google has issued it to another program", auth.ErrRefused)
	}
	seconds, err := strconv.ParseInt(info.Expires, 10, 64)
	if err != nil {
		return auth.Holder{}, errors.New("ask Google for a token: the answer has no end of it")
	}
	return auth.Holder{Name: cmp.Or(info.Subject, info.Email, info.Audience), Scopes: strings.Fields(info.Scope), Expires: time.Unix(seconds, 0)}, nil
}
