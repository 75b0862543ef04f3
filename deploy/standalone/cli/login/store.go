package login

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/gofrs/flock"
	"github.com/google/renameio/v2"
	"golang.org/x/oauth2"
)

// Login is the login of a user at an agent.
type Login struct {
	URL      string `json:"url"`
	Issuer   string `json:"issuer"`
	Audience string `json:"audience"`
	ClientID string `json:"client_id"`
	// TokenURL and RevocationURL are addresses of the provider.
	TokenURL      string        `json:"token_url"`
	RevocationURL string        `json:"revocation_url,omitempty"`
	Token         *oauth2.Token `json:"token"`
	IDToken       string        `json:"id_token,omitempty"`
}

// ErrNone is the error of an agent at which nobody has logged in.
var ErrNone = errors.New("nobody has logged in")

// Store has the logins of a user, in a folder.
type Store struct{ dir string }

// NewStore returns the store of the user of this process: $XDG_CONFIG_HOME/agent/logins, or what that is on this
// system.
func NewStore(getenv func(string) string) (Store, error) {
	dir := getenv("XDG_CONFIG_HOME")
	if dir == "" {
		home := getenv("HOME")
		if home == "" {
			return Store{}, errors.New("there is no home directory for the login: set HOME or XDG_CONFIG_HOME")
		}
		dir = filepath.Join(home, ".config")
	}
	return Store{filepath.Join(dir, "agent", "logins")}, nil
}

func (s Store) file(url string) string {
	sum := sha256.Sum256([]byte(strings.TrimRight(url, "/")))
	return filepath.Join(s.dir, hex.EncodeToString(sum[:8])+".json")
}

// Load returns the login at an agent, or ErrNone.
func (s Store) Load(url string) (*Login, error) {
	data, err := os.ReadFile(s.file(url))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, ErrNone
	}
	if err != nil {
		return nil, err
	}
	var l Login
	if err := json.Unmarshal(data, &l); err != nil || l.Token == nil {
		return nil, fmt.Errorf("%s is damaged: log in again", s.file(url))
	}
	return &l, nil
}

// Save keeps a login.
func (s Store) Save(l *Login) error {
	data, err := json.MarshalIndent(l, "", "  ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return err
	}
	return renameio.WriteFile(s.file(l.URL), append(data, '\n'), 0o600)
}

// Remove forgets the login at an agent.
func (s Store) Remove(url string) error { return os.Remove(s.file(url)) }

// locked has one process at a time work with the login at an agent: a provider takes a refresh token
// once.
func (s Store) locked(url string, f func() error) error {
	lock := flock.New(s.file(url)+".lock", flock.SetPermissions(0o600))
	if err := lock.Lock(); err != nil {
		return fmt.Errorf("lock the login: %w", err)
	}
	return errors.Join(f(), lock.Close())
}
