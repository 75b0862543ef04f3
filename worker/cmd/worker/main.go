// Command worker is the program worker without object stores: blobs.url takes folders only.
package main

import "agent-stop-and-go/worker/program"

// version is set by the build.
var version = "dev"

func main() { program.Main(version) }
