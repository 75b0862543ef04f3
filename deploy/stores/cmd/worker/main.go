// Command worker is the program worker with the drivers of object stores.
package main

import (
	_ "agent-stop-and-go/deploy/stores" // s3://, gs:// and azblob://
	"agent-stop-and-go/worker/program"
)

// version is set by the build.
var version = "dev"

func main() { program.Main(version) }
