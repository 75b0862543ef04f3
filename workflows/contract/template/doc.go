// Package template reads and fills in the placeholders of prompts: {key}, where key consists of
// letters, digits and underscores, and {key.field}, which is a field of a JSON value. Fields can
// be nested ({key.a.b}), and a number is the index of a list's item, from 0.
package template
