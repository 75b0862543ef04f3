// Package outbound keeps requests to addresses that somebody else has chosen away from
// networks of ours.
package outbound
