package page

import (
	"errors"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"codeberg.org/readeck/go-readability/v2"
	"github.com/JohannesKaufmann/html-to-markdown/v2/converter"
	essential "github.com/JohannesKaufmann/html-to-markdown/v2/plugin/base"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/commonmark"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/table"
	"golang.org/x/net/html"
)

const (
	// maxElements bounds the elements in which the article is looked for. What is larger is taken whole.
	maxElements = 50_000
	// shortArticle is the length of an article, in bytes, below which it is no better than the whole page
	// if that has several times more text.
	shortArticle = 200
)

// fillHTML takes the article of a page, or the whole page.
func (p *Page) fillHTML(text io.Reader, at *url.URL, whole bool) error {
	doc, err := html.Parse(text)
	if err != nil && strings.Contains(err.Error(), "open stack of elements") { // which has no type
		return errors.New("the page is nested too deeply")
	}
	if err != nil {
		return fmt.Errorf("read the HTML of the page: %w", err)
	}
	if tame(doc) {
		p.Cut = true
	}
	at = baseOf(doc, at)
	parser := readability.NewParser()
	parser.MaxElemsToParse = maxElements
	article, err := parser.ParseDocument(doc, at)
	if err == nil {
		p.Title, p.Byline, p.Site = article.Title(), article.Byline(), article.SiteName()
		if published, err := article.PublishedTime(); err == nil {
			p.Published = published.Format("2006-01-02")
		}
	}
	if err == nil && !whole && article.Node != nil {
		if p.Text, p.Links, err = markdown(article.Node, at); err != nil {
			return err
		}
	}
	if len(p.Text) >= shortArticle {
		return nil
	}
	allText, allLinks, err := markdown(doc, at)
	if err != nil {
		return err
	}
	if whole || p.Text == "" || len(allText) > 3*len(p.Text) {
		p.Text, p.Links, p.Whole = allText, allLinks, true
	}
	return nil
}

// baseOf returns the address to which links of a page are relative.
func baseOf(doc *html.Node, at *url.URL) *url.URL {
	for n := range doc.Descendants() {
		if n.Type == html.ElementNode && n.Data == "base" {
			if base, err := at.Parse(attribute(n, "href")); err == nil {
				return base
			}
		}
	}
	return at
}

// markdown renders a node. A link is its text and a number; links[number-1] is where it leads.
func markdown(node *html.Node, base *url.URL) (string, []string, error) {
	l := &linker{base: base, numbers: map[string]int{}}
	c := converter.NewConverter(converter.WithEscapeMode(converter.EscapeModeDisabled), converter.WithPlugins(essential.NewBasePlugin(), commonmark.NewCommonmarkPlugin(), table.NewTablePlugin(table.WithCellPaddingBehavior(table.CellPaddingBehaviorMinimal))))
	c.Register.TextTransformer(func(_ converter.Context, text string) string { return guarded.Replace(text) }, converter.PriorityEarly)
	c.Register.RendererFor("a", converter.TagTypeInline, l.link, converter.PriorityEarly)
	c.Register.RendererFor("img", converter.TagTypeInline, image, converter.PriorityEarly)
	for _, tag := range []string{"noscript", "template", "svg", "canvas", "object"} {
		c.Register.TagType(tag, converter.TagTypeRemove, converter.PriorityEarly)
	}
	text, err := c.ConvertNode(node)
	if err != nil {
		return "", nil, fmt.Errorf("write the page as text: %w", err)
	}
	return strings.TrimSpace(plain.Replace(string(text))), l.links, nil
}

// The converter writes < and > of texts as entities, for renderers of Markdown. The text is for readers.
var (
	guarded = strings.NewReplacer("<", "\uE000", ">", "\uE001")
	plain   = strings.NewReplacer("\uE000", "<", "\uE001", ">")
)

// linker numbers links.
type linker struct {
	base    *url.URL
	links   []string
	numbers map[string]int // by address
}

func (l *linker) link(ctx converter.Context, w converter.Writer, n *html.Node) converter.RenderStatus {
	ctx.RenderChildNodes(ctx, w, n)
	if number, err := l.number(attribute(n, "href")); err == nil {
		_, _ = w.WriteString(" [" + strconv.Itoa(number) + "]")
	}
	return converter.RenderSuccess
}

var errNoLink = errors.New("leads nowhere")

// number returns the number of a link. Places in the page itself, and scripts, have none.
func (l *linker) number(href string) (int, error) {
	to, err := l.base.Parse(strings.TrimSpace(href))
	if err != nil || strings.HasPrefix(strings.TrimSpace(href), "#") || href == "" || !slices.Contains([]string{"http", "https", "mailto"}, to.Scheme) {
		return 0, errNoLink
	}
	address := to.String()
	number, ok := l.numbers[address]
	if !ok {
		l.links = append(l.links, address)
		number = len(l.links)
		l.numbers[address] = number
	}
	return number, nil
}

// image is the text of a picture.
func image(_ converter.Context, w converter.Writer, n *html.Node) converter.RenderStatus {
	if alt := strings.Join(strings.Fields(attribute(n, "alt")), " "); alt != "" {
		_, _ = w.WriteString("(image: " + alt + ")")
	}
	return converter.RenderSuccess
}

func attribute(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}
