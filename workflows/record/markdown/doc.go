// Package markdown writes a conversation as a Markdown document for people. What people, models
// and tools wrote is quoted or in code blocks, so that it ends where it ends and is not mistaken
// for words of this program.
package markdown
