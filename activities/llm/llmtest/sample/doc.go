// Package sample has the conversations, tools and requests that the tests of all wire formats
// share. The tests go through the router.
package sample
