// Package search finds conversations by words in their titles and texts.
//
// There is no index. A search goes through the list of conversations that the caller sees, the same
// that lists show, so it finds nothing of others and nothing that was deleted. Titles are in that
// list. Texts are in the files to which conversations are exported, where the gateway has them: of a
// conversation without a file only the title is searched, and Result counts both. Texts are what
// people and agents wrote; arguments and results of calls, and files, are not searched.
//
// A search looks at no more than MaxSearched conversations, and takes no longer than maxTime. The
// rest is the next page.
package search
