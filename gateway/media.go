package gateway

import (
	"cmp"
	"mime"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/labstack/echo/v4"

	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/record/document"
	"agent-stop-and-go/workflows/record/markdown"
)

// media replies with the bytes of a file that a tool returned. They may be of any kind, so a
// browser must not treat them as a page of this site.
func (h *rest) media(c echo.Context) error {
	id, err := conversationParam(c)
	if err != nil {
		return err
	}
	found, data, err := h.service.Media(c.Request().Context(), id, c.Param("sha256"))
	if err != nil {
		return err
	}
	kind, shown := presented(found.MIMEType)
	header := c.Response().Header()
	if !shown {
		header.Set("Content-Disposition", attachment(found))
	}
	asData(header)
	header.Set("Cache-Control", "private, no-cache") // each time it is asked for, because the conversation may have been deleted
	header.Set("ETag", `"`+found.SHA256+`"`)
	if c.Request().Header.Get("If-None-Match") == header.Get("ETag") {
		return c.NoContent(http.StatusNotModified)
	}
	header.Set("Content-Length", strconv.Itoa(len(data)))
	return c.Blob(http.StatusOK, kind, data)
}

// asData says that a reply is no page of this site, whatever it contains.
func asData(header http.Header) {
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Content-Security-Policy", "default-src 'none'; sandbox")
}

// export replies with a whole conversation as a file: as it is exported, or for people.
func (h *rest) export(c echo.Context) error {
	id, err := conversationParam(c)
	if err != nil {
		return err
	}
	format := cmp.Or(c.QueryParam("format"), "json")
	if format != "json" && format != "markdown" {
		return service.Errorf(contract.KindInvalid, "format: expected json or markdown, not %q", service.Printable(format))
	}
	d, err := h.service.Document(c.Request().Context(), id, service.Part{Whole: true})
	if err != nil {
		return err
	}
	name, kind := contract.ConversationFile(id), echo.MIMEApplicationJSON
	var data []byte
	if format == "markdown" {
		name, kind = strings.TrimSuffix(name, ".json")+".md", "text/markdown; charset=utf-8"
		data = markdown.Encode(d)
	} else if data, err = document.EncodeWhole(d); err != nil {
		return err
	}
	header := c.Response().Header()
	asData(header)
	header.Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": name}))
	header.Set("Cache-Control", "private, no-store")
	return c.Blob(http.StatusOK, kind, data)
}

// presented returns the Content-Type of a file, and whether a browser may show it.
func presented(declared string) (kind string, shown bool) {
	base, _, err := mime.ParseMediaType(declared)
	if err != nil || !strings.Contains(base, "/") {
		return "application/octet-stream", false
	}
	shown = slices.Contains([]string{"image/png", "image/jpeg", "image/gif", "image/webp"}, base) || strings.HasPrefix(base, "audio/")
	return declared, shown
}

// attachment returns the Content-Disposition with the file's name.
func attachment(m contract.Media) string {
	return mime.FormatMediaType("attachment", map[string]string{"filename": cmp.Or(m.FileName(), m.SHA256[:12])})
}
