package toolbox

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"

	"agent-stop-and-go/workflows/contract"
)

// Resource is a resource of a server, or, with Template, a family of resources whose URI has
// placeholders.
type Resource struct {
	Server      string
	URI         string
	Name        string
	Title       string
	Description string
	MIMEType    string
	Size        int64
	Template    bool
}

// Prompt is a prompt that a server offers.
type Prompt struct {
	Server      string
	Name        string
	Title       string
	Description string
	Arguments   []PromptArgument
}

// PromptArgument is an argument of a prompt.
type PromptArgument struct {
	Name        string `json:"name"`
	Title       string `json:"title"`
	Description string `json:"description"`
	Required    bool   `json:"required"`
}

// Access is a server and the caller of a request.
type Access struct {
	Server    string
	Bearer    string
	SessionID string
}

// Resources lists the resources and templates of all servers, in declared order, without a
// caller's token. It waits for FirstWait at most. The error has the servers that did not
// answer, by Failures; the list has the rest.
func (t *Toolbox) Resources(ctx context.Context) ([]Resource, error) {
	return gather(ctx, t, (*link).resources)
}

// Prompts lists the prompts of all servers as Resources does resources.
func (t *Toolbox) Prompts(ctx context.Context) ([]Prompt, error) {
	return gather(ctx, t, (*link).prompts)
}

// gather asks all servers at once.
func gather[T any](ctx context.Context, t *Toolbox, list func(*link, context.Context, caller) ([]T, error)) ([]T, error) {
	t.Start(t.ctx)
	ctx, cancel := context.WithTimeoutCause(ctx, t.opts.FirstWait, timeoutError{limit: t.opts.FirstWait})
	defer cancel()
	type part struct {
		items []T
		err   error
	}
	parts := make([]chan part, len(t.links))
	for i, l := range t.links {
		parts[i] = make(chan part, 1)
		go func() {
			items, err := list(l, ctx, caller{})
			parts[i] <- part{items, err}
		}()
	}
	all, errs := []T{}, []error{}
	for _, p := range parts {
		got := <-p
		all, errs = append(all, got.items...), append(errs, got.err)
	}
	return all, errors.Join(errs...)
}

// Failures splits the error of Resources or Prompts by server.
func Failures(err error) []*Error {
	var all interface{ Unwrap() []error }
	if !errors.As(err, &all) {
		return nil
	}
	var out []*Error
	for _, err := range all.Unwrap() {
		var one *Error
		if errors.As(err, &one) {
			out = append(out, one)
		}
	}
	return out
}

// ReadResource reads a resource. Like Call it has a result for a server that requires the
// caller to log in, and its error is an *Error.
func (t *Toolbox) ReadResource(ctx context.Context, a Access, uri string) (Result, error) {
	return t.read(ctx, a, string(mcp.MethodResourcesRead), readContents, func(ctx context.Context, c *conn, x *trace) error {
		var req mcp.ReadResourceRequest
		req.Params.URI = uri
		_, err := c.client.ReadResource(withTrace(ctx, x), req)
		return err
	})
}

// GetPrompt fills in a prompt and returns its messages. Its result and error are those of
// ReadResource.
func (t *Toolbox) GetPrompt(ctx context.Context, a Access, name string, args map[string]string) (Result, error) {
	return t.read(ctx, a, string(mcp.MethodPromptsGet), readPrompt, func(ctx context.Context, c *conn, x *trace) error {
		var req mcp.GetPromptRequest
		req.Params.Name, req.Params.Arguments = name, args
		_, err := c.client.GetPrompt(withTrace(ctx, x), req)
		return err
	})
}

type sendFunc func(ctx context.Context, c *conn, x *trace) error

func (t *Toolbox) read(ctx context.Context, a Access, method string, result func(json.RawMessage) (Result, error), send sendFunc) (Result, error) {
	t.Start(t.ctx)
	fail := func(kind contract.Kind, err error) (Result, error) {
		return Result{}, &Error{Kind: kind, Server: a.Server, Tool: method, Err: hideSecrets(err, t.mask(a.Server, a.Bearer))}
	}
	l := t.link(a.Server)
	if l == nil {
		return fail(contract.KindToolFailed, errNoServer)
	}
	v := l.ask(ctx, request{who: caller{bearer: a.Bearer, sessionID: a.SessionID}, send: send})
	if v.kind != "" {
		return fail(v.kind, v.err)
	}
	if v.answer == nil {
		return v.result, nil
	}
	said, err := result(v.answer)
	if err != nil {
		return fail(contract.KindToolFailed, err)
	}
	return said.without(l.mask(a.Bearer)), nil
}

// resources lists the resources of one server, templates last.
func (l *link) resources(ctx context.Context, who caller) ([]Resource, error) {
	offers := func(c mcp.ServerCapabilities) bool { return c.Resources != nil }
	plain, err := l.pages(ctx, who, mcp.MethodResourcesList, offers, func(ctx context.Context, c *conn, x *trace) error {
		_, err := c.client.ListResources(withTrace(ctx, x), mcp.ListResourcesRequest{})
		return err
	})
	if err != nil {
		return nil, err
	}
	// A server with resources but without templates may refuse this request.
	templates, err := l.pages(ctx, who, mcp.MethodResourcesTemplatesList, offers, func(ctx context.Context, c *conn, x *trace) error {
		_, err := c.client.ListResourceTemplates(withTrace(ctx, x), mcp.ListResourceTemplatesRequest{})
		return err
	})
	var refused *Error
	if err != nil && !(errors.As(err, &refused) && refused.Kind == contract.KindToolFailed) {
		return nil, err
	}
	list, err := l.decodeResources(append(plain, templates...))
	s := l.mask(who.bearer)
	for i, r := range list {
		list[i].URI, list[i].Name, list[i].Title = s.Text(r.URI), s.Text(r.Name), s.Text(r.Title)
		list[i].Description, list[i].MIMEType = s.Text(r.Description), s.Text(r.MIMEType)
	}
	return list, err
}

func (l *link) decodeResources(pages []json.RawMessage) ([]Resource, error) {
	var out []Resource
	for _, page := range pages {
		var list struct {
			Resources []struct {
				URI, Name, Title, Description, MIMEType string
				Size                                    int64
			}
			ResourceTemplates []struct{ URITemplate, Name, Title, Description, MIMEType string }
		}
		if err := json.Unmarshal(page, &list); err != nil {
			return nil, l.undecodable(mcp.MethodResourcesList, err)
		}
		for _, r := range list.Resources {
			out = append(out, Resource{
				Server: l.server.Name, URI: r.URI, Name: r.Name, Title: r.Title, Description: r.Description, MIMEType: r.MIMEType, Size: r.Size,
			})
		}
		for _, r := range list.ResourceTemplates {
			out = append(out, Resource{
				Server: l.server.Name, URI: r.URITemplate, Name: r.Name, Title: r.Title, Description: r.Description, MIMEType: r.MIMEType,
				Template: true,
			})
		}
		if len(out) > maxItems {
			return nil, l.undecodable(mcp.MethodResourcesList, errTooManyItems)
		}
	}
	return out, nil
}

func (l *link) prompts(ctx context.Context, who caller) ([]Prompt, error) {
	offers := func(c mcp.ServerCapabilities) bool { return c.Prompts != nil }
	pages, err := l.pages(ctx, who, mcp.MethodPromptsList, offers, func(ctx context.Context, c *conn, x *trace) error {
		_, err := c.client.ListPrompts(withTrace(ctx, x), mcp.ListPromptsRequest{})
		return err
	})
	if err != nil {
		return nil, err
	}
	s := l.mask(who.bearer)
	var out []Prompt
	for _, page := range pages {
		var list struct {
			Prompts []struct {
				Name, Title, Description string
				Arguments                []PromptArgument
			}
		}
		if err := json.Unmarshal(page, &list); err != nil {
			return nil, l.undecodable(mcp.MethodPromptsList, err)
		}
		for _, p := range list.Prompts {
			for i, a := range p.Arguments {
				p.Arguments[i].Name, p.Arguments[i].Title, p.Arguments[i].Description = s.Text(a.Name), s.Text(a.Title), s.Text(a.Description)
			}
			out = append(out, Prompt{
				Server: l.server.Name, Name: s.Text(p.Name), Title: s.Text(p.Title), Description: s.Text(p.Description), Arguments: p.Arguments,
			})
		}
		if len(out) > maxItems {
			return nil, l.undecodable(mcp.MethodPromptsList, errTooManyItems)
		}
	}
	return out, nil
}

func (l *link) undecodable(method mcp.MCPMethod, err error) error {
	return &Error{Kind: contract.KindToolFailed, Server: l.server.Name, Tool: string(method), Err: fmt.Errorf("decode the list: %w", err)}
}

// errNothing is the error of a server that declares none of the kind; it was not called.
var errNothing = errors.New("the server offers none")

// pages returns the raw pages of a list; none if the server declares no such list.
func (l *link) pages(ctx context.Context, who caller, method mcp.MCPMethod, offers func(mcp.ServerCapabilities) bool, list sendFunc) ([]json.RawMessage, error) {
	v := l.ask(ctx, request{who: who, send: func(ctx context.Context, c *conn, x *trace) error {
		if !offers(c.client.GetServerCapabilities()) {
			return errNothing
		}
		return list(ctx, c, x)
	}})
	fail := func(kind contract.Kind, err error) error {
		return &Error{Kind: kind, Server: l.server.Name, Tool: string(method), Err: hideSecrets(err, l.mask(who.bearer))}
	}
	switch {
	case v.kind != "":
		return nil, fail(v.kind, v.err)
	case v.result.AuthRequired != "":
		return nil, fail(contract.KindToolUnavailable, transport.ErrAuthorizationRequired)
	}
	return v.pages, nil
}
