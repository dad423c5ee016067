package offsetlog

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/s2"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
)

// maxInflated bounds what one batch may decompress to: the coordinator's own
// batches are at most message.max.bytes (1 MiB by default) before compression.
const maxInflated = 32 << 20

// maxSnappy is more than snappy can compress by: a length beyond it is not believed.
const maxSnappy = 64

var (
	errCodec    = errors.New("unknown compression codec")
	errInflated = fmt.Errorf("batch decompresses to more than %d MiB", maxInflated>>20)
)

// inflater decompresses batches into a buffer that it reuses: what inflate answers
// is good until its next call. It is not safe for concurrent use.
type inflater struct {
	buf  bytes.Buffer
	flat []byte
	gz   *gzip.Reader
	lz   *lz4.Reader
	zs   *zstd.Decoder
}

// inflate decompresses src by the codec of a batch's attributes (KIP-110): 1 gzip,
// 2 snappy, 3 lz4, 4 zstd.
func (f *inflater) inflate(src []byte, codec int16) ([]byte, error) {
	switch codec {
	case 1:
		return f.gzip(src)
	case 2:
		return f.snappy(src)
	case 3:
		if f.lz == nil {
			f.lz = lz4.NewReader(nil)
		}
		f.lz.Reset(bytes.NewReader(src))
		return f.read(f.lz)
	case 4:
		return f.zstd(src)
	}
	return nil, errCodec
}

func (f *inflater) gzip(src []byte) ([]byte, error) {
	var err error
	if f.gz == nil {
		f.gz, err = gzip.NewReader(bytes.NewReader(src))
	} else {
		err = f.gz.Reset(bytes.NewReader(src))
	}
	if err != nil {
		f.gz = nil
		return nil, err
	}
	return f.read(f.gz)
}

func (f *inflater) zstd(src []byte) ([]byte, error) {
	if f.zs == nil {
		d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxMemory(maxInflated))
		if err != nil {
			return nil, err
		}
		f.zs = d
	}
	out, err := f.zs.DecodeAll(src, f.flat[:0])
	if err == nil {
		f.flat = out
	}
	return out, err
}

// read takes all of r, which decompresses, up to the bound.
func (f *inflater) read(r io.Reader) ([]byte, error) {
	f.buf.Reset()
	n, err := f.buf.ReadFrom(io.LimitReader(r, maxInflated+1))
	if err != nil {
		return nil, err
	}
	if n > maxInflated {
		return nil, errInflated
	}
	return f.buf.Bytes(), nil
}

// xerialMagic starts the framing that Java's snappy streams put around blocks.
var xerialMagic = []byte{0x82, 'S', 'N', 'A', 'P', 'P', 'Y', 0}

// xerialHeader is the magic and two version numbers.
const xerialHeader = 16

func (f *inflater) snappy(src []byte) ([]byte, error) {
	if !bytes.HasPrefix(src, xerialMagic) || len(src) < xerialHeader {
		return f.block(f.flat[:0], src)
	}
	out := f.flat[:0]
	for src = src[xerialHeader:]; len(src) > 0; {
		if len(src) < 4 {
			return nil, io.ErrUnexpectedEOF
		}
		n := int(binary.BigEndian.Uint32(src))
		if src = src[4:]; n > len(src) {
			return nil, io.ErrUnexpectedEOF
		}
		var err error
		if out, err = f.block(out, src[:n]); err != nil {
			return nil, err
		}
		src = src[n:]
	}
	return out, nil
}

// block appends one plain snappy block to out, and keeps the grown buffer.
func (f *inflater) block(out, src []byte) ([]byte, error) {
	n, err := s2.DecodedLen(src)
	if err != nil {
		return nil, err
	}
	if n > maxInflated-len(out) {
		return nil, errInflated
	}
	if n > maxSnappy*len(src) {
		return nil, s2.ErrCorrupt
	}
	start := len(out)
	if cap(out)-start < n {
		out = append(make([]byte, 0, 2*(start+n)), out...)
	}
	if _, err := s2.Decode(out[start:start+n], src); err != nil {
		return nil, err
	}
	f.flat = out[:start+n]
	return f.flat, nil
}

// close frees what the decoders hold.
func (f *inflater) close() {
	if f.zs != nil {
		f.zs.Close()
	}
}
