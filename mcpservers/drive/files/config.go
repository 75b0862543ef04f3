package files

import (
	"errors"
	"flag"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"agent-stop-and-go/mcpservers/drive/bucket"
	"agent-stop-and-go/mcpservers/drive/google"
	"agent-stop-and-go/mcpservers/hosting"
)

// Config has the address of the server, the folder and its limits.
type Config struct {
	hosting.Settings `yaml:",inline"` // host, port, transport, …

	// One of these is the folder.
	Google GoogleConfig `yaml:"google"`
	Bucket string       `yaml:"bucket"` // URL: s3://, gs://, azblob://
	Path   string       `yaml:"path"`   // of this machine

	ReadOnly bool `yaml:"read_only"`
	// Delete says what delete_file does: trash, permanent or never.
	Delete string `yaml:"delete"`
	// MaxRead bounds what is returned of a file, MaxWrite the content of a call, MaxFile a file that is appended
	// to, in bytes. MaxList bounds the files of a listing.
	MaxRead  int `yaml:"max_read"`
	MaxWrite int `yaml:"max_write"`
	MaxFile  int `yaml:"max_file"`
	MaxList  int `yaml:"max_list"`
	// Timeout bounds a call. An agent waits 30s for it.
	Timeout hosting.Span `yaml:"timeout"`
}

// GoogleConfig is a folder of Google Drive, and who reads and changes it.
type GoogleConfig struct {
	Folder string `yaml:"folder"` // ID
	// KeyFile has the key of a service account; "" for that of GOOGLE_APPLICATION_CREDENTIALS. Subject is the
	// person in whose name it acts.
	KeyFile string `yaml:"key_file"`
	Subject string `yaml:"subject"`
	// Login takes the token of each caller, which Google must have issued to one of ClientIDs.
	Login     bool     `yaml:"login"`
	ClientIDs []string `yaml:"client_ids"`
	// Endpoint is another address of the API, such as that of a proxy.
	Endpoint string `yaml:"endpoint"`
}

// Values of Config.Delete.
const (
	DeleteTrash     = "trash"
	DeletePermanent = "permanent"
	DeleteNever     = "never"
)

// DefaultConfig returns settings for a server on loopback. It has no folder, which a server needs.
func DefaultConfig() Config {
	return Config{Settings: hosting.DefaultSettings(8096), Delete: DeleteTrash,
		MaxRead: 64 << 10, MaxWrite: 1 << 20, MaxFile: 8 << 20, MaxList: 100, Timeout: hosting.Span(25 * time.Second)}
}

// Bind adds the flags of the server.
func (c *Config) Bind(set *flag.FlagSet) {
	c.Settings.Bind(set)
	set.StringVar(&c.Path, "path", c.Path, "")
	set.StringVar(&c.Bucket, "bucket", c.Bucket, "")
	set.StringVar(&c.Google.Folder, "google", c.Google.Folder, "")
	set.StringVar(&c.Google.KeyFile, "key-file", c.Google.KeyFile, "")
	set.BoolVar(&c.ReadOnly, "read-only", c.ReadOnly, "")
	set.StringVar(&c.Delete, "delete", c.Delete, "")
}

// LoadConfig reads a YAML file over the defaults. One error reports all mistakes of the file. Relative paths are
// relative to the working directory.
func LoadConfig(path string) (Config, error) { return hosting.LoadYAML(path, DefaultConfig(), keys) }

// keys are the allowed keys, by the Go type in errors of yaml.
var keys = map[string]string{
	"files.Config":       strings.Join(append(hosting.Keys(), "google", "bucket", "path", "read_only", "delete", "max_read", "max_write", "max_file", "max_list", "timeout"), ", "),
	"files.GoogleConfig": "folder, key_file, subject, login, client_ids, endpoint",
}

// ErrNoFolder is returned by Validate for a configuration without a folder.
var ErrNoFolder = errors.New("no folder: name one with --path, --bucket or --google, or in the file of --config (see --help)")

// Validate reports every invalid value.
func (c Config) Validate() error {
	errs := []error{c.Settings.Validate(), c.Google.validate()}
	switch given := len(slices.DeleteFunc([]string{c.Google.Folder, c.Bucket, c.Path}, func(s string) bool { return s == "" })); {
	case given == 0:
		errs = append(errs, ErrNoFolder)
	case given > 1:
		errs = append(errs, errors.New("google, bucket and path exclude each other"))
	}
	if c.Bucket != "" {
		if err := bucket.CheckURL(c.Bucket); err != nil {
			errs = append(errs, fmt.Errorf("bucket: %w", err))
		}
	}
	if !slices.Contains([]string{DeleteTrash, DeletePermanent, DeleteNever}, c.Delete) {
		errs = append(errs, fmt.Errorf("delete %q is unknown: use trash, permanent or never", c.Delete))
	}
	if c.Google.Login && (c.OverStdio() || c.AuthTokenEnv != "" || c.Kind != "") {
		errs = append(errs, errors.New("google.login needs HTTP, and takes the place of auth and auth_token_env: the token of a caller is that of Google"))
	}
	for _, limit := range []struct {
		name               string
		value, least, most int
	}{
		{"max_read", c.MaxRead, 1 << 10, 16 << 20}, {"max_write", c.MaxWrite, 1, 16 << 20}, {"max_file", c.MaxFile, 1, 64 << 20}, {"max_list", c.MaxList, 1, 1000},
	} {
		if limit.value < limit.least || limit.value > limit.most {
			errs = append(errs, fmt.Errorf("%s %d is out of range: %d to %d", limit.name, limit.value, limit.least, limit.most))
		}
	}
	if t := time.Duration(c.Timeout); t < time.Second || t > 10*time.Minute {
		errs = append(errs, fmt.Errorf("timeout %s is out of range: 1s to 10m", t))
	}
	return errors.Join(errs...)
}

var clientID = regexp.MustCompile(`^[A-Za-z0-9._-]{1,200}$`)

func (g GoogleConfig) validate() error {
	var errs []error
	if g.Folder == "" {
		if g.KeyFile+g.Subject+g.Endpoint != "" || g.Login || len(g.ClientIDs) > 0 {
			errs = append(errs, errors.New("google has no folder: it is the ID of one, the last part of its address in a browser"))
		}
		return errors.Join(errs...)
	}
	if !google.CheckID(g.Folder) {
		errs = append(errs, fmt.Errorf("google.folder: %q is not the ID of a folder: it is the last part of the folder's address in a browser", g.Folder))
	}
	if g.Login && g.KeyFile+g.Subject != "" {
		errs = append(errs, errors.New("google.login excludes google.key_file and google.subject"))
	}
	if g.Login == (len(g.ClientIDs) == 0) {
		errs = append(errs, errors.New("google.login needs google.client_ids, those of the programs that people log in with, and nothing else does"))
	}
	for _, id := range g.ClientIDs {
		if !clientID.MatchString(id) {
			errs = append(errs, fmt.Errorf("google.client_ids: %q is not the ID of a client", id))
		}
	}
	if u, err := url.Parse(g.Endpoint); g.Endpoint != "" && (err != nil || u.Host == "" || u.User != nil || u.RawQuery != "" ||
		u.Scheme != "https" && (u.Scheme != "http" || !slices.Contains([]string{"127.0.0.1", "localhost", "::1"}, u.Hostname()))) {
		errs = append(errs, errors.New("google.endpoint must begin with https://, or be on this machine"))
	}
	return errors.Join(errs...)
}
