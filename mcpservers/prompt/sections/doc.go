// Package sections is a system prompt as a tree of named sections: how it is read from a directory,
// what a model gets of it, and how the text of a section is changed.
//
//	prompt, faults := sections.Read(sections.Directory("prompt")) // faults have a file and a line
//	text := prompt.Assemble()
//	section, err := prompt.Find("tone")                 // or "2": its number
//	after, err := sections.Apply(sections.Append, section.Text, "Be brief.", "")
//
// # A directory
//
// The prompt begins in index.md: a text, a line [SECTIONS], and a line for each section. The section
// NAME is the file NAME.md, which may have sections of its own in the same way:
//
//	You look after the stock list.
//	[SECTIONS]
//	tone: How to write
//	tools: What the tools are for
//
// A first line that begins with "## " is a title for those who read the file, and not in the prompt. Files that
// no index lists are not in the prompt. If there is a file .system_prompt and no index.md, the files are
// .system_prompt and .system_prompt_NAME.
//
// A name that is listed twice, sections that contain each other, a listed file that is missing, and a
// line that names no section are faults: nothing is read then.
//
// # What a model gets
//
// The text at the beginning; then for each section an empty line, its heading with two # and one more for
// each level, and its text:
//
//	You look after the stock list.
//
//	## tone: How to write
//	Be brief.
//
// Sections have numbers in this order, from 0.
//
// # Changes
//
// See [Operation]. Only sections without sections can be changed.
package sections
