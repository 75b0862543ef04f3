// Command gateway is the program gateway without object stores: blobs.url takes folders only.
package main

import "agent-stop-and-go/gateway/program"

// version is set by the build.
var version = "dev"

func main() { program.Main(version) }
