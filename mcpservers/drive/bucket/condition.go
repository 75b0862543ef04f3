package bucket

import (
	"errors"

	"cloud.google.com/go/storage"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob"
	azblobblob "github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blob"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/feature/s3/transfermanager"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"gocloud.dev/blob"
	"gocloud.dev/blob/gcsblob"
)

// ifUnchanged puts the condition that an object is the one with the attributes into a request of any store, as
// blob has it for its hooks. mem:// has no request.
func (b *Bucket) ifUnchanged(as func(any) bool, a *blob.Attributes) error {
	var (
		s3Upload *transfermanager.UploadObjectInput
		s3Copy   *s3.CopyObjectInput
		s3Delete *s3.DeleteObjectInput
		object   **storage.ObjectHandle
		handles  *gcsblob.CopyObjectHandles
		upload   *azblob.UploadStreamOptions
		copying  *azblobblob.StartCopyFromURLOptions
		removal  *azblobblob.DeleteOptions
	)
	etag := azcore.ETag(a.ETag)
	azure := &azblobblob.AccessConditions{ModifiedAccessConditions: &azblobblob.ModifiedAccessConditions{IfMatch: &etag}}
	switch {
	case as(&s3Upload):
		s3Upload.IfMatch = aws.String(a.ETag)
	case as(&s3Copy):
		s3Copy.CopySourceIfMatch = aws.String(a.ETag)
	case as(&s3Delete):
		s3Delete.IfMatch = aws.String(a.ETag)
	case as(&handles):
		handles.Src = handles.Src.If(generation(a))
	case as(&object):
		*object = (*object).If(generation(a))
	case as(&upload):
		upload.AccessConditions = azure
	case as(&copying):
		copying.SourceModifiedAccessConditions = &azblobblob.SourceModifiedAccessConditions{SourceIfMatch: &etag}
	case as(&removal):
		removal.AccessConditions = azure
	case !b.inMemory:
		return errors.New("a request of this kind takes no condition, so somebody else's change could be lost")
	}
	return nil
}

// generation is the version of an object of Google.
func generation(a *blob.Attributes) storage.Conditions {
	var attrs storage.ObjectAttrs
	if !a.As(&attrs) {
		return storage.Conditions{}
	}
	return storage.Conditions{GenerationMatch: attrs.Generation}
}
