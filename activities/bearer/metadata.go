package bearer

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strings"
)

// resource is the part of a server's metadata that is used (RFC 9728 §2).
type resource struct {
	Resource string   `json:"resource"`
	Servers  []string `json:"authorization_servers"`
}

const maxMetadata = 1 << 20

// fetchResource returns the metadata of a server, or none if it has no such document. An error
// means that it could not be asked.
func fetchResource(ctx context.Context, client *http.Client, server string) (resource, error) {
	places, err := resourcePlaces(server)
	if err != nil {
		return resource{}, err
	}
	for _, place := range places {
		r, err := fetchDocument(ctx, client, place)
		if err != nil || r.Resource != "" || len(r.Servers) > 0 {
			return r, err
		}
	}
	return resource{}, nil
}

// resourcePlaces returns where the metadata of a server may be (RFC 9728 §3.1): for its path, and
// for its host.
func resourcePlaces(server string) ([]string, error) {
	u, err := url.Parse(server)
	if err != nil {
		return nil, err
	}
	const known = "/.well-known/oauth-protected-resource"
	host := url.URL{Scheme: u.Scheme, Host: u.Host, Path: known}
	if path := strings.TrimRight(u.Path, "/"); path != "" {
		own := host
		own.Path += path
		return []string{own.String(), host.String()}, nil
	}
	return []string{host.String()}, nil
}

func fetchDocument(ctx context.Context, client *http.Client, place string) (r resource, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, place, nil)
	if err != nil {
		return r, err
	}
	reply, err := client.Do(req)
	if err != nil {
		return r, err
	}
	defer reply.Body.Close()
	if reply.StatusCode != http.StatusOK {
		return r, nil
	}
	if json.NewDecoder(io.LimitReader(reply.Body, maxMetadata)).Decode(&r) != nil {
		return resource{}, nil // a page that answers everything
	}
	return r, nil
}
