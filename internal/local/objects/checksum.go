package objects

import (
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"hash"
	"hash/crc32"
	"hash/crc64"
	"net/http"
	"strings"
)

const checksumHeader = "X-Amz-Checksum-"

// nvme is the polynomial of CRC64NVME, reflected, as S3 defines that checksum.
const nvme = 0x9a6c9329ac4bc9b5

// newChecksum returns nil for an algorithm that S3 does not have.
func newChecksum(algorithm string) hash.Hash {
	switch algorithm {
	case "crc32":
		return crc32.NewIEEE()
	case "crc32c":
		return crc32.New(crc32.MakeTable(crc32.Castagnoli))
	case "crc64nvme":
		return crc64.New(crc64.MakeTable(nvme))
	case "sha1":
		return sha1.New()
	case "sha256":
		return sha256.New()
	}
	return nil
}

func headerChecksums(h http.Header) map[string]string {
	sums := map[string]string{}
	for name, values := range h {
		algorithm, ok := strings.CutPrefix(name, checksumHeader)
		if algorithm = strings.ToLower(algorithm); ok && newChecksum(algorithm) != nil {
			sums[algorithm] = values[0]
		}
	}
	return sums
}

func verifyChecksums(sums map[string]string, data []byte) error {
	for algorithm, want := range sums {
		sum := newChecksum(algorithm)
		if sum == nil {
			return refuse(http.StatusBadRequest, "InvalidRequest")
		}
		sum.Write(data)
		if base64.StdEncoding.EncodeToString(sum.Sum(nil)) != want {
			return refuse(http.StatusBadRequest, "BadDigest")
		}
	}
	return nil
}

// verifyDigests checks the two digests of a request that are not stored: the signed payload hash and Content-MD5.
func verifyDigests(h http.Header, data []byte) error {
	if want := h.Get("X-Amz-Content-Sha256"); len(want) == hex.EncodedLen(sha256.Size) {
		if got := sha256.Sum256(data); hex.EncodeToString(got[:]) != want {
			return refuse(http.StatusBadRequest, "XAmzContentSHA256Mismatch")
		}
	}
	if want := h.Get("Content-Md5"); want != "" {
		if got := md5.Sum(data); base64.StdEncoding.EncodeToString(got[:]) != want {
			return refuse(http.StatusBadRequest, "BadDigest")
		}
	}
	return nil
}
