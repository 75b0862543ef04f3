package main

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"agent-stop-and-go/config"
)

func TestTheStartSaysHowCallersProveWhoTheyAre(t *testing.T) {
	got := callers([]config.AuthWay{{Type: config.AuthKeys}, {Type: config.AuthProxy, Header: "X-Subject", From: []string{"10.0.0.0/8"}}})
	want := []string{"keys; 'agent keys add NAME' makes one", "proxy: X-Subject from 10.0.0.0/8; scopes: converse, read, approve"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
