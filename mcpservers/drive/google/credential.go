package google

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"agent-stop-and-go/mcpservers/hosting/excerpt"

	"golang.org/x/oauth2"
	"golang.org/x/oauth2/google"
	"golang.org/x/oauth2/jwt"
	"google.golang.org/api/drive/v3"
)

// Credential gets tokens for requests.
type Credential interface {
	// Token returns the token of a request, whose context is that of a call.
	Token(ctx context.Context) (string, error)
	// Refused notes that Drive did not take a token, and reports whether Token returns another one now.
	Refused(token string) bool
	// PerCaller reports whether tokens are those of callers.
	PerCaller() bool
	// Who names the account, for messages.
	Who() string
}

// errCredential is in errors of getting a token that another attempt would not change.
var errCredential = errors.New("no token of Google")

// NewServiceAccount returns the credential of a service account, from its key file of JSON. subject is the
// address of a person of the organisation in whose name it acts (domain-wide delegation); "" for itself.
func NewServiceAccount(key []byte, subject string) (Credential, error) {
	config, err := google.JWTConfigFromJSON(key, Scope)
	if err != nil {
		return nil, fmt.Errorf("read the key of the service account: %w", err)
	}
	config.Subject = subject
	return &serviceAccount{config: config, client: &http.Client{Timeout: 15 * time.Second}}, nil
}

// serviceAccount gets tokens for a signed assertion (RFC 7523 §2.1).
type serviceAccount struct {
	config *jwt.Config
	client *http.Client

	mu     sync.Mutex
	source oauth2.TokenSource // nil before the first token, and after one was refused
	latest string
}

func (s *serviceAccount) Token(context.Context) (string, error) {
	s.mu.Lock()
	if s.source == nil {
		// Tokens outlive a call, so its context is not theirs.
		s.source = s.config.TokenSource(context.WithValue(context.Background(), oauth2.HTTPClient, s.client))
	}
	source := s.source
	s.mu.Unlock()
	token, err := source.Token()
	var answer *oauth2.RetrieveError
	if errors.As(err, &answer) && answer.Response != nil && answer.Response.StatusCode < 500 {
		var why struct {
			Error       string `json:"error"`
			Description string `json:"error_description"`
		}
		_ = json.Unmarshal(answer.Body, &why) // what is no JSON says nothing
		return "", fmt.Errorf("%w for the service account %s: status %d %s %s", errCredential, s.config.Email, answer.Response.StatusCode, excerpt.Line(why.Error, 50), excerpt.Line(why.Description, 200))
	}
	if err != nil {
		return "", fmt.Errorf("get a token for the service account: %w", err)
	}
	s.mu.Lock()
	s.latest = token.AccessToken
	s.mu.Unlock()
	return token.AccessToken, nil
}

func (s *serviceAccount) Refused(token string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.latest == token {
		s.source = nil
	}
	return true
}

func (s *serviceAccount) PerCaller() bool { return false }

func (s *serviceAccount) Who() string {
	if s.config.Subject != "" {
		return s.config.Subject
	}
	return s.config.Email
}

// OfCaller is the credential that is the token in the context of a call, see [WithToken].
type OfCaller struct{}

type loginKey struct{}

// login is what one call has of its caller.
type login struct {
	token string
	root  *drive.File // the configured folder, as the caller sees it; nil until it was read
}

// WithToken returns the context of one call of somebody with a token.
func WithToken(ctx context.Context, token string) context.Context {
	return context.WithValue(ctx, loginKey{}, &login{token: token})
}

func loginOf(ctx context.Context) *login {
	l, _ := ctx.Value(loginKey{}).(*login)
	return l
}

// Token implements [Credential].
func (OfCaller) Token(ctx context.Context) (string, error) {
	l := loginOf(ctx)
	if l == nil || l.token == "" {
		return "", fmt.Errorf("%w: the call has none", errCredential)
	}
	return l.token, nil
}

// Refused implements [Credential].
func (OfCaller) Refused(string) bool { return false }

// PerCaller implements [Credential].
func (OfCaller) PerCaller() bool { return true }

// Who implements [Credential].
func (OfCaller) Who() string { return "who is logged in" }
