// Package objects is an S3 server that keeps everything in memory: the object store of local runs and tests.
//
// A Server is an http.Handler that speaks the part of the S3 API that Iceberg writers and readers use, in path
// style: buckets, PutObject, GetObject with ranges, HeadObject, DeleteObject, DeleteObjects, CopyObject,
// ListObjectsV2 and multipart uploads. Conditional requests are obeyed atomically, every checksum a client sends
// is verified and stored, and aws-chunked bodies (signed or not, with trailers) are decoded. Code in the same
// process may read and write objects directly, without HTTP; both see the same objects.
//
// It does not verify request signatures, and has no versioning, access control lists, UploadPartCopy, size limit
// or persistence.
package objects
