// Package sample has conversations, tools and requests for the tests of the wire
// formats: each is tested with the same ones, through the router.
package sample
