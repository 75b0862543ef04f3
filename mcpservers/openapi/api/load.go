package api

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
)

// maxDocument bounds a document, and each file that it refers to, in bytes.
const maxDocument = 32 << 20

// Document is an OpenAPI document.
type Document struct {
	doc *openapi3.T
	at  *url.URL // where it was read, nil for a file
}

// Load reads a document from a file or an http(s) URL. It may refer to files in its folder and below, or to
// other documents of its host.
func Load(ctx context.Context, location string, client *http.Client) (*Document, error) {
	loader := &openapi3.Loader{Context: ctx}
	var read sources
	var doc *openapi3.T
	var at *url.URL
	var err error
	if strings.HasPrefix(location, "http://") || strings.HasPrefix(location, "https://") {
		if at, err = url.Parse(location); err != nil {
			return nil, fmt.Errorf("the address of the document is malformed: %w", err)
		}
		loader.ReadFromURIFunc = read.recorded(sameHost(ctx, at, client))
		doc, err = loader.LoadFromURI(at)
	} else {
		var root *os.Root
		if root, err = os.OpenRoot(filepath.Dir(location)); err != nil {
			return nil, fmt.Errorf("read the document: %w", err)
		}
		defer root.Close()
		loader.ReadFromURIFunc = read.recorded(sameFolder(filepath.Dir(location), root))
		doc, err = loader.LoadFromFile(location)
	}
	if err != nil {
		return nil, fmt.Errorf("read the document %s: %w", location, read.explain(err))
	}
	if !strings.HasPrefix(doc.OpenAPI, "3.") {
		return nil, fmt.Errorf("%s is not OpenAPI 3: convert it first if it is Swagger 2.0", location)
	}
	if doc.Paths == nil || doc.Paths.Len() == 0 {
		return nil, fmt.Errorf("%s has no paths", location)
	}
	return &Document{doc, at}, nil
}

// Title returns the name of the API.
func (d *Document) Title() string {
	if d.doc.Info == nil || d.doc.Info.Title == "" {
		return "the API"
	}
	return d.doc.Info.Title
}

// Schemes returns the security schemes by name.
func (d *Document) Schemes() map[string]*openapi3.SecurityScheme {
	all := map[string]*openapi3.SecurityScheme{}
	if d.doc.Components == nil {
		return all
	}
	for name, ref := range d.doc.Components.SecuritySchemes {
		if ref.Value != nil {
			all[name] = ref.Value
		}
	}
	return all
}

func sameHost(ctx context.Context, at *url.URL, client *http.Client) openapi3.ReadFromURIFunc {
	return func(_ *openapi3.Loader, uri *url.URL) ([]byte, error) {
		if uri.Scheme != at.Scheme || uri.Host != at.Host {
			return nil, fmt.Errorf("%s is at another host", uri.Redacted())
		}
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, uri.String(), nil)
		if err != nil {
			return nil, err
		}
		response, err := client.Do(request)
		if err != nil {
			return nil, err
		}
		defer response.Body.Close()
		if response.StatusCode != http.StatusOK {
			return nil, fmt.Errorf("%s answers %s", uri.Redacted(), response.Status)
		}
		return limited(response.Body)
	}
}

func sameFolder(dir string, root *os.Root) openapi3.ReadFromURIFunc {
	return func(_ *openapi3.Loader, uri *url.URL) ([]byte, error) {
		if uri.Scheme != "" && uri.Scheme != "file" || uri.Host != "" {
			return nil, fmt.Errorf("%s is not a file of the folder %s", uri.Redacted(), dir)
		}
		name, err := filepath.Rel(dir, filepath.FromSlash(uri.Path))
		if err != nil {
			return nil, err
		}
		file, err := root.Open(name)
		if err != nil {
			return nil, err
		}
		defer file.Close()
		return limited(file)
	}
}

func limited(from io.Reader) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(from, maxDocument+1))
	if err == nil && len(data) > maxDocument {
		return nil, errors.New("the document is too large")
	}
	return data, err
}
