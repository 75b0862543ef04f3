package filesystem

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"mime"
	"net/url"
	"os"
	"path"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

// ResourceTemplate is the URI template of all readable files.
const ResourceTemplate = "file-root://{root}/{+path}"

const resourceScheme = "file-root://"

// registerResources publishes the files of roots that allow read_file. It does not list them
// one by one; list_folder and glob do that.
func (s *Server) registerResources(m *server.MCPServer) {
	for _, root := range s.roots {
		if root.allows(toolReadFile) {
			m.AddResourceTemplate(mcp.NewResourceTemplate(ResourceTemplate, "File in a root",
				mcp.WithTemplateDescription("A file of a root that allows read_file. Percent-encode everything in path but unreserved characters and slashes.")),
				s.readResource)
			return
		}
	}
}

// readResource returns the same error for a missing file and for one that must not be read.
func (s *Server) readResource(ctx context.Context, request mcp.ReadResourceRequest) ([]mcp.ResourceContents, error) {
	start := time.Now()
	ctx, cancel := context.WithTimeout(ctx, s.config.timeout())
	defer cancel()
	result, err := s.readURI(ctx, request.Params.URI)
	s.log.Info("resource", "ok", err == nil, "latency", time.Since(start))
	return result, s.explain(err)
}

func (s *Server) readURI(ctx context.Context, uri string) ([]mcp.ResourceContents, error) {
	rootName, given, err := splitURI(uri)
	if err != nil {
		return nil, fmt.Errorf("%w: %s: %w", server.ErrResourceNotFound, uri, err)
	}
	root, ok := s.roots[rootName]
	if !ok || !root.allows(toolReadFile) {
		return nil, fmt.Errorf("%w: %s", server.ErrResourceNotFound, uri)
	}
	data, err := s.resource(ctx, root, given)
	if err != nil {
		return nil, err
	}
	return []mcp.ResourceContents{contents(uri, given, data)}, nil
}

func splitURI(uri string) (root, given string, err error) {
	host, rest, _ := strings.Cut(strings.TrimPrefix(uri, resourceScheme), "/")
	if root, err = url.PathUnescape(host); err != nil {
		return "", "", err
	}
	given, err = url.PathUnescape(rest)
	return root, given, err
}

func (s *Server) resource(ctx context.Context, root *root, given string) ([]byte, error) {
	rel, err := clean(given)
	if err != nil {
		return nil, err
	}
	if rel, err = root.resolve(rel); err != nil {
		return nil, describe(err, "file not found", given)
	}
	file, info, err := root.openFile(rel, os.O_RDONLY)
	if isMissing(err) {
		return nil, fmt.Errorf("%w: file not found: %s", server.ErrResourceNotFound, given)
	}
	if err != nil {
		return nil, describe(err, "file not found", given)
	}
	defer file.Close()
	data, err := readAll(cancellable{ctx, file}, info.Size(), s.config.MaxFullReadSize)
	return data, describe(err, "file not found", given)
}

func contents(uri, given string, data []byte) mcp.ResourceContents {
	kind := mime.TypeByExtension(path.Ext(given))
	if utf8.Valid(data) && bytes.IndexByte(data, 0) < 0 {
		if kind == "" {
			kind = "text/plain; charset=utf-8"
		}
		return mcp.TextResourceContents{URI: uri, MIMEType: kind, Text: string(data)}
	}
	if kind == "" {
		kind = "application/octet-stream"
	}
	return mcp.BlobResourceContents{URI: uri, MIMEType: kind, Blob: base64.StdEncoding.EncodeToString(data)}
}
