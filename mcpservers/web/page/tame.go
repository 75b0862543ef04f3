package page

import (
	"slices"
	"strconv"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// Limits of pages, whose converter takes time and memory by their structure rather than by their size.
const (
	maxNodes  = 150_000 // elements, and texts between them; the rest of the page is left out
	maxNested = 20      // levels of lists and quotations; deeper ones are plain
	maxLevels = 100     // of elements; each one is a copy of what is in it
	maxSpan   = 100     // rows or columns of one cell
	maxCells  = 200_000 // rows x columns of a table
)

// tame bounds the structure of a document, and reports whether its end was left out.
func tame(doc *html.Node) (cut bool) {
	var late, tables []*html.Node
	count := 0
	for n := range doc.Descendants() {
		if count++; count > maxNodes {
			late = append(late, n)
			continue
		}
		switch n.DataAtom {
		case atom.Table:
			tables = append(tables, n)
		case atom.Td, atom.Th:
			clamp(n)
		}
	}
	for _, n := range late {
		n.Parent.RemoveChild(n)
	}
	flatten(doc, 0, 0)
	for _, table := range tables {
		tameTable(table)
	}
	return len(late) > 0
}

// flatten makes lists and quotations plain that are too deep, and takes away levels of elements.
func flatten(n *html.Node, level, nested int) {
	if level == maxLevels {
		lift(n)
	}
	switch n.DataAtom {
	case atom.Ul, atom.Ol, atom.Blockquote:
		nested++
	}
	if nested > maxNested {
		switch n.DataAtom {
		case atom.Ul, atom.Ol, atom.Li, atom.Blockquote:
			plainBlock(n)
		}
	}
	for child := range n.ChildNodes() {
		flatten(child, level+1, nested)
	}
}

// lift puts the innermost elements, and all texts, right under a node. Tables that this takes apart are plain.
func lift(n *html.Node) {
	inner, deeper := []*html.Node{}, false
	var collect func(*html.Node)
	collect = func(d *html.Node) {
		if innermost(d) {
			inner = append(inner, d)
			return
		}
		deeper = true
		for child := range d.ChildNodes() {
			collect(child)
		}
	}
	for child := range n.ChildNodes() {
		collect(child)
	}
	if !deeper {
		return
	}
	for _, d := range inner {
		d.Parent.RemoveChild(d)
	}
	for n.FirstChild != nil {
		n.RemoveChild(n.FirstChild)
	}
	for _, d := range inner {
		plainTable(d)
		n.AppendChild(d)
	}
	for ; n != nil; n = n.Parent {
		plainTable(n)
	}
}

// innermost reports whether a node contains no elements.
func innermost(n *html.Node) bool {
	for child := range n.ChildNodes() {
		if child.Type == html.ElementNode {
			return false
		}
	}
	return true
}

func plainBlock(n *html.Node) { n.Data, n.DataAtom = "div", atom.Div }

// clamp bounds how many rows and columns a cell has.
func clamp(cell *html.Node) {
	for i, a := range cell.Attr {
		if a.Key == "colspan" || a.Key == "rowspan" {
			if span, _ := strconv.Atoi(a.Val); span > maxSpan { // also of a number that is too large
				cell.Attr[i].Val = strconv.Itoa(maxSpan)
			}
		}
	}
}

// tameTable takes the spans of a table that is too large with them, and makes it plain if it is too large
// without.
func tameTable(table *html.Node) {
	if cells(table) <= maxCells {
		return
	}
	for n := range table.Descendants() {
		n.Attr = slices.DeleteFunc(n.Attr, func(a html.Attribute) bool { return a.Key == "colspan" || a.Key == "rowspan" })
	}
	if cells(table) <= maxCells {
		return
	}
	plainTable(table)
	for n := range table.Descendants() {
		plainTable(n)
	}
}

// plainTable makes a table, or a part of one, plain.
func plainTable(n *html.Node) {
	switch n.DataAtom {
	case atom.Table, atom.Caption, atom.Thead, atom.Tbody, atom.Tfoot, atom.Tr, atom.Td, atom.Th:
		plainBlock(n)
	}
}

// cells returns rows x columns of a table as the converter fills it up, or more.
func cells(table *html.Node) int {
	var grow []int // by row, how many columns more there are than in the row before
	row, widest, own := -1, 0, 0
	for n := range table.Descendants() {
		switch n.DataAtom {
		case atom.Tr:
			row, own = row+1, 0
		case atom.Td, atom.Th:
			columns, rows := span(n, "colspan"), span(n, "rowspan")
			at := max(row, 0)
			for len(grow) <= at+rows {
				grow = append(grow, 0)
			}
			grow[at] += columns
			grow[at+rows] -= columns
			own += columns
			widest = max(widest, own)
		}
	}
	most, width := 0, 0
	for _, columns := range grow {
		width += columns
		most = max(most, width)
	}
	if most > widest { // the row of the header, which is any one, comes first
		most += widest
	}
	return max(row+1, len(grow)) * most
}

func span(cell *html.Node, name string) int {
	n, err := strconv.Atoi(attribute(cell, name))
	if err != nil || n < 1 {
		return 1
	}
	return n
}
