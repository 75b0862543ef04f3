// Package stores links the drivers of object stores into a program, so that blobs.url may be
// s3://, gs:// or azblob://. It is a module of its own, because the SDKs of the clouds are large:
//
//	import _ "agent-stop-and-go/deploy/stores"
//
// The worker and the gateway below cmd are those that ship. The agent has the drivers too.
package stores

import (
	_ "gocloud.dev/blob/azureblob" // azblob://
	_ "gocloud.dev/blob/gcsblob"   // gs://
	_ "gocloud.dev/blob/s3blob"    // s3://
)
