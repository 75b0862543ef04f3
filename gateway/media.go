package gateway

import (
	"cmp"
	"context"
	"mime"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/labstack/echo/v4"

	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/record/transcript"
)

// media answers with the bytes of what a tool returned beside its text. They may
// be anything at all: a browser must not take them for a page of this site.
func (g *Gateway) media(c echo.Context) error {
	id, err := conversationParam(c)
	if err != nil {
		return err
	}
	ctx := c.Request().Context()
	found, err := g.findMedia(ctx, id, c.Param("sha256"))
	if err != nil {
		return err
	}
	data, err := g.Blobs.Get(ctx, found.Blob)
	if err != nil {
		return err
	}
	kind, shown := presented(found.MIMEType)
	h := c.Response().Header()
	if !shown {
		h.Set("Content-Disposition", attachment(found))
	}
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Content-Security-Policy", "default-src 'none'; sandbox")
	h.Set("Cache-Control", "private, max-age=31536000, immutable") // the address is the content's
	h.Set("Content-Length", strconv.Itoa(len(data)))
	return c.Blob(http.StatusOK, kind, data)
}

// findMedia looks for media in the messages of a conversation: what another one
// refers to is not found.
func (g *Gateway) findMedia(ctx context.Context, id, sum string) (contract.Media, error) {
	if !(contract.Blob{SHA256: sum}).Valid() {
		return contract.Media{}, noMedia(sum)
	}
	view, err := g.Backend.Conversation(ctx, id, "")
	if err != nil {
		return contract.Media{}, err
	}
	messages, err := transcript.Load(ctx, g.Blobs, view.Transcript)
	if err != nil {
		return contract.Media{}, err
	}
	for _, m := range messages {
		media := m.Media
		if m.ToolCall != nil {
			media = m.ToolCall.Media
		}
		if i := slices.IndexFunc(media, func(f contract.Media) bool { return f.SHA256 == sum }); i >= 0 {
			return media[i], nil
		}
	}
	return contract.Media{}, noMedia(sum)
}

func noMedia(sum string) *service.Error {
	return service.Errorf(contract.KindNotFound, "media not found: %s", service.Printable(sum))
}

// presented is the Content-Type of media, and whether a browser may show it.
func presented(said string) (kind string, shown bool) {
	base, _, err := mime.ParseMediaType(said)
	if err != nil || !strings.Contains(base, "/") {
		return "application/octet-stream", false
	}
	shown = slices.Contains([]string{"image/png", "image/jpeg", "image/gif", "image/webp"}, base) || strings.HasPrefix(base, "audio/")
	return said, shown
}

// attachment names the file after the last part of the media's name.
func attachment(m contract.Media) string {
	return mime.FormatMediaType("attachment", map[string]string{"filename": cmp.Or(m.FileName(), m.SHA256[:12])})
}
