package blobstore

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"gocloud.dev/blob"
	"gocloud.dev/gcerrors"
)

// objectStores are the schemes of object stores, with what says who may use one.
var objectStores = map[string]string{
	"s3": "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, a profile or the role of the machine, and AWS_REGION",
	"gs": "GOOGLE_APPLICATION_CREDENTIALS, or the service account of the machine",
	"azblob": "AZURE_STORAGE_ACCOUNT with AZURE_STORAGE_KEY or AZURE_STORAGE_SAS_TOKEN, AZURE_CLIENT_ID with AZURE_TENANT_ID and a secret, " +
		"or the managed identity of the machine",
}

// checkTime limits how long Open waits for an object store.
const checkTime = 20 * time.Second

// openBucket opens a bucket. Of an object store it makes sure that it answers, lets this process
// read, write and list, and refuses to overwrite where it is asked to.
func openBucket(ctx context.Context, scheme, url string) (*blob.Bucket, error) {
	credentials, isObjects := objectStores[scheme]
	if isObjects && !blob.DefaultURLMux().ValidBucketScheme(scheme) {
		return nil, fmt.Errorf("this program has no driver for %s://; the agent has it, and so have the worker and the gateway of make build, the images and the archives", scheme)
	}
	bucket, err := blob.OpenBucket(ctx, url)
	if err != nil || !isObjects {
		return bucket, err
	}
	ctx, cancel := context.WithTimeout(ctx, checkTime)
	defer cancel()
	if err := check(ctx, bucket); err != nil {
		return nil, errors.Join(fmt.Errorf("%w (credentials are from %s)", err, credentials), bucket.Close())
	}
	return bucket, nil
}

const checkKey = "probe/exclusive"

// errOverwrites is the error of a store that ignores the conditions of writes.
var errOverwrites = errors.New("it overwrites what it was asked to keep (If-None-Match), so a destructive call could run twice: use a store with conditional writes")

func check(ctx context.Context, b *blob.Bucket) error {
	first := writeNew(ctx, b)
	if first != nil && gcerrors.Code(first) != gcerrors.FailedPrecondition {
		return fmt.Errorf("write: %w", first)
	}
	switch err := writeNew(ctx, b); {
	case err == nil:
		return errOverwrites
	case gcerrors.Code(err) != gcerrors.FailedPrecondition:
		return fmt.Errorf("write: %w", err)
	}
	if _, err := b.ReadAll(ctx, checkKey); err != nil {
		return fmt.Errorf("read: %w", err)
	}
	if _, err := b.List(&blob.ListOptions{Prefix: checkKey}).Next(ctx); err != nil {
		return fmt.Errorf("list: %w", err)
	}
	return nil
}

func writeNew(ctx context.Context, b *blob.Bucket) error {
	return upload(ctx, b, checkKey, []byte("whether this store keeps what is there\n"), &blob.WriterOptions{ContentType: "text/plain", IfNotExist: true})
}

// upload writes an object. A Writer of azureblob panics if the upload fails.
func upload(ctx context.Context, b *blob.Bucket, key string, data []byte, o *blob.WriterOptions) error {
	return b.Upload(ctx, key, bytes.NewReader(data), o)
}

// IsObjectStore reports whether a scheme of a URL is that of an object store.
func IsObjectStore(scheme string) bool { return objectStores[scheme] != "" }
