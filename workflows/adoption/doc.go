// Package adoption is the configuration that a running conversation was told to take over. It does
// so between turns, and in a turn of a single node that waits for a person, if whoever sent it has
// compared it with all approvals that wait: the next call of the model is made with it. The nodes of a tree keep what they were started with until the turn ends.
//
// What has been approved is not touched: the call is bound to its server, tool and arguments, and a
// worker whose configuration differs asks again.
package adoption
