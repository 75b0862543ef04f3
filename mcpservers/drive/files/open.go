package files

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"

	"agent-stop-and-go/mcpservers/drive/bucket"
	"agent-stop-and-go/mcpservers/drive/folder"
	"agent-stop-and-go/mcpservers/drive/google"
	"agent-stop-and-go/mcpservers/drive/store"
	"agent-stop-and-go/mcpservers/hosting/auth"
)

// keyFile is the environment variable with the file of a service account that Google's own programs read.
const keyFile = "GOOGLE_APPLICATION_CREDENTIALS"

// open opens the folder of a configuration. guard is nil unless callers have logins of their own.
func open(ctx context.Context, c Config, getenv func(string) string, log *slog.Logger) (s store.Store, guard *auth.Guard, err error) {
	permanent := c.Delete == DeletePermanent
	switch {
	case c.Path != "":
		s, err = folder.Open(c.Path, folder.Config{Permanent: permanent, MaxFile: int64(c.MaxFile)})
	case c.Bucket != "":
		s, err = bucket.Open(ctx, c.Bucket, bucket.Config{Permanent: permanent, MaxFile: int64(c.MaxFile)})
	case c.Google.Login:
		guard = google.NewGuard(google.Login{ClientIDs: c.Google.ClientIDs, Resource: c.Resource, Endpoint: c.Google.Endpoint})
		s, err = google.Open(ctx, google.Config{Folder: c.Google.Folder, Credential: google.OfCaller{}, Permanent: permanent, MaxFile: int64(c.MaxFile), Endpoint: c.Google.Endpoint}, log)
	default:
		var credential google.Credential
		if credential, err = serviceAccount(c.Google, getenv); err == nil {
			s, err = google.Open(ctx, google.Config{Folder: c.Google.Folder, Credential: credential, Permanent: permanent, MaxFile: int64(c.MaxFile), Endpoint: c.Google.Endpoint}, log)
		}
	}
	if err != nil {
		return nil, nil, err
	}
	return s, guard, nil
}

func serviceAccount(g GoogleConfig, getenv func(string) string) (google.Credential, error) {
	path := cmp.Or(g.KeyFile, getenv(keyFile))
	if path == "" {
		return nil, errors.New("no credentials: name the key file of a service account with --key-file, with google.key_file or in " + keyFile + ", or use google.login")
	}
	key, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read the key of the service account: %w", err)
	}
	return google.NewServiceAccount(key, g.Subject)
}

// tokenOf returns the bearer token of a header, "" if there is none.
func tokenOf(header string) string {
	scheme, token, _ := strings.Cut(header, " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return ""
	}
	return strings.TrimSpace(token)
}
