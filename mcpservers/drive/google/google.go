package google

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"time"

	"agent-stop-and-go/mcpservers/drive/store"
	"agent-stop-and-go/mcpservers/hosting/excerpt"

	"google.golang.org/api/drive/v3"
	"google.golang.org/api/googleapi"
	"google.golang.org/api/option"
)

// Scope is the permission that tokens need.
const Scope = drive.DriveScope

// Config says which folder, and who.
type Config struct {
	// Folder is the ID of the folder.
	Folder     string
	Credential Credential
	// Permanent deletes files for good instead of moving them to the trash.
	Permanent bool
	// MaxFile bounds the size of a file that is appended to, in bytes.
	MaxFile int64
	// Endpoint is the address of the API; "" for that of Google.
	Endpoint string
}

// Drive is a folder. It is safe for concurrent use.
type Drive struct {
	config Config
	api    *drive.Service
	locks  store.Locks

	mu      sync.Mutex
	root    *drive.File       // with ID, name and drive; nil until it was read
	pending map[string]string // IDs of files that may have been made, by mark
}

var validID = regexp.MustCompile(`^[A-Za-z0-9_-]{10,200}$`)

// CheckID reports whether a text can be the ID of a file.
func CheckID(id string) bool { return validID.MatchString(id) }

// Open looks at the folder, unless each caller has a login of their own. It is an error if there is no such
// folder; if Drive cannot be reached that is logged, and asked again with the first call.
func Open(ctx context.Context, config Config, log *slog.Logger) (*Drive, error) {
	if !CheckID(config.Folder) {
		return nil, fmt.Errorf("folder %q is not the ID of a folder: it is the last part of the folder's address in a browser", config.Folder)
	}
	client := &http.Client{Transport: &transport{next: http.DefaultTransport, credential: config.Credential}, CheckRedirect: withinHost}
	options := []option.ClientOption{option.WithHTTPClient(client)}
	if config.Endpoint != "" {
		options = append(options, option.WithEndpoint(strings.TrimSuffix(config.Endpoint, "/")+"/drive/v3/"))
	}
	api, err := drive.NewService(ctx, options...)
	if err != nil {
		return nil, fmt.Errorf("open Google Drive: %w", err)
	}
	d := &Drive{config: config, api: api, pending: map[string]string{}}
	if config.Credential.PerCaller() {
		return d, nil
	}
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	_, err = d.folder(ctx)
	var answer *googleapi.Error
	if errors.As(err, &answer) && answer.Code < 500 || errors.Is(err, errFolder) || errors.Is(err, errCredential) {
		return nil, err
	}
	if err != nil {
		log.Warn("Google Drive cannot be reached now", "err", err)
	}
	return d, nil
}

// withinHost follows no redirect to another host: each request has the token.
func withinHost(request *http.Request, via []*http.Request) error {
	if len(via) > 5 || request.URL.Host != via[0].URL.Host || request.URL.Scheme != via[0].URL.Scheme {
		return http.ErrUseLastResponse
	}
	return nil
}

// Close implements [store.Store].
func (d *Drive) Close() error { return nil }

// Name implements [store.Store].
func (d *Drive) Name() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.root == nil {
		return "a folder of Google Drive"
	}
	return fmt.Sprintf("the folder %q of Google Drive", excerpt.Line(d.root.Name, 100))
}

var errFolder = errors.New("the configured folder")

// folder returns the configured folder. It is read once; where callers have logins of their own once in each
// call, because what one may see says nothing of another.
func (d *Drive) folder(ctx context.Context) (*drive.File, error) {
	d.mu.Lock()
	root := d.root
	d.mu.Unlock()
	l := loginOf(ctx)
	if l != nil {
		root = l.root
	}
	if root != nil {
		return root, nil
	}
	f, err := d.api.Files.Get(d.config.Folder).Context(ctx).SupportsAllDrives(true).Fields("id,name,mimeType,trashed,driveId").Do()
	switch {
	case isStatus(err, http.StatusNotFound):
		return nil, fmt.Errorf("%w %s is not there, or not shared with %s: %w", errFolder, d.config.Folder, d.config.Credential.Who(), err)
	case err != nil:
		return nil, d.explain(ctx, err)
	case f.MimeType != typeFolder:
		return nil, fmt.Errorf("%w %s is not a folder, but %s", errFolder, d.config.Folder, f.MimeType)
	case f.Trashed:
		return nil, fmt.Errorf("%w %s is in the trash", errFolder, d.config.Folder)
	}
	if l != nil {
		l.root = f
		return f, nil
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.root = f
	return f, nil
}
