// Package page reads a page of the web as text that a model can read.
//
//	reader := page.Reader{Client: rules.Client(20 * time.Second), MaxBytes: 5 << 20}
//	p, err := reader.Read(ctx, "https://example.com/article", false)
//
// Of HTML it takes the article, as the reader view of a browser does, or the whole page where there is
// none or it is asked for. The text is Markdown in which a link is its text with a number, [3], and
// Links[2] is where it leads. Other texts (JSON, XML, source code) are taken as they are, and everything
// else is an error. The structure of a page is bounded before it is made text of, see tame.go, because a small
// page can take all of a processor or memory by it. Which addresses are read is up to the client, see package reach.
package page
