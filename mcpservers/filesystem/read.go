package filesystem

import (
	"bufio"
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"unicode/utf8"
)

// sniffLength is the number of bytes that are read to detect binary files.
const sniffLength = 8 << 10

type content struct {
	Binary      bool   `json:"binary,omitempty"` // a null byte near the beginning
	Content     string `json:"content"`
	Encoding    string `json:"encoding,omitempty"`     // "base64" for binary content that is not UTF-8
	InvalidUTF8 bool   `json:"invalid_utf8,omitempty"` // some characters were replaced by U+FFFD
	LinesTotal  *int64 `json:"lines_total,omitempty"`  // only when reading by lines and within lineScan
	Size        int64  `json:"size"`                   // of the whole file
	Truncated   bool   `json:"truncated"`
}

// part is the requested part of a file.
type part struct {
	byBytes, byLines bool
	offset, limit    int64 // limit 0: no limit
}

func (c call) part() (p part, err error) {
	p.byBytes, p.byLines = c.args.Has("offset_bytes", "limit_bytes"), c.args.Has("offset_lines", "limit_lines")
	if p.byBytes && p.byLines {
		return p, errors.New("byte-based and line-based parameters are mutually exclusive")
	}
	unit := "bytes"
	if p.byLines {
		unit = "lines"
	}
	if p.offset, err = c.count("offset_"+unit, 0); err != nil {
		return p, err
	}
	p.limit, err = c.count("limit_"+unit, 0)
	return p, err
}

func readFile(ctx context.Context, c call) (any, error) {
	at, err := c.resolvedLocation("root", "path", "")
	if err != nil {
		return nil, err
	}
	part, err := c.part()
	if err != nil {
		return nil, err
	}
	file, info, err := at.root.openFile(at.rel, os.O_RDONLY)
	if err != nil {
		return nil, describe(err, "file not found", at.given)
	}
	defer file.Close()
	result, err := c.read(ctx, file, info, part)
	return result, describe(err, "file not found", at.given)
}

func (c call) read(ctx context.Context, file *os.File, info fs.FileInfo, p part) (content, error) {
	result := content{Size: info.Size(), Binary: isBinary(file, make([]byte, sniffLength))}
	most := c.config.MaxReadSize
	var data []byte
	var err error
	switch {
	case p.byLines:
		data, err = result.readLines(cancellable{ctx, file}, p, most)
	case p.byBytes:
		data, result.Truncated, err = readBytes(cancellable{ctx, io.NewSectionReader(file, p.offset, math.MaxInt64-p.offset)}, p, most)
	default:
		most = c.config.MaxFullReadSize
		data, err = readAll(cancellable{ctx, file}, info.Size(), most)
	}
	result.setData(data)
	if size := encodedSize(result.Content); err == nil && size > 2*most {
		err = fmt.Errorf("content too large in JSON (size: %s, limit: %s); use offset/limit parameters for smaller parts", sizeText(size), sizeText(2*most))
	}
	return result, err
}

// encodedSize returns the size of text as a JSON string. Newlines and quotes take two bytes,
// control characters six.
func encodedSize(text string) int64 {
	n := int64(len(text))
	for i := range len(text) {
		switch b := text[i]; {
		case b == '"' || b == '\\' || b == '\n' || b == '\r' || b == '\t' || b == '\b' || b == '\f':
			n++
		case b < ' ':
			n += 5
		}
	}
	return n
}

// setData stores valid UTF-8 as text and other binary data in base64. In other text it replaces
// invalid UTF-8.
func (r *content) setData(data []byte) {
	switch {
	case utf8.Valid(data):
		r.Content = string(data)
	case r.Binary:
		r.Content, r.Encoding = base64.StdEncoding.EncodeToString(data), "base64"
	default:
		r.Content, r.InvalidUTF8 = string(bytes.ToValidUTF8(data, []byte("\uFFFD"))), true
	}
}

// isBinary reports whether the beginning of a file contains a null byte. It does not move the
// file offset, and overwrites buffer.
func isBinary(file io.ReaderAt, buffer []byte) bool {
	head := buffer[:sniffLength]
	n, _ := file.ReadAt(head, 0)
	return bytes.IndexByte(head[:n], 0) >= 0
}

func readAll(file io.Reader, size, limit int64) ([]byte, error) {
	if size <= limit {
		data, err := io.ReadAll(io.LimitReader(file, limit+1)) // the file may have grown
		if err != nil || int64(len(data)) <= limit {
			return data, err
		}
		size = int64(len(data))
	}
	return nil, fmt.Errorf("file too large for full read (size: %s, limit: %s); use offset/limit parameters", sizeText(size), sizeText(limit))
}

// readBytes reads p.limit bytes, or the whole file, but not more than most. The second result
// reports truncation: fewer bytes than requested, also at the end of the file.
func readBytes(file io.Reader, p part, most int64) ([]byte, bool, error) {
	want := most
	if p.limit > 0 {
		want = min(p.limit, most)
	}
	data, err := io.ReadAll(io.LimitReader(file, want))
	if p.limit > 0 {
		return data, int64(len(data)) < p.limit, err
	}
	more, _ := file.Read(make([]byte, 1))
	return data, more > 0, err
}

// lineScan is the number of bytes that are searched for lines. The start of a line is known
// only after reading everything before it.
const lineScan = 256 << 20

// readLines calls the function readLines on the first lineScan bytes.
func (r *content) readLines(file io.Reader, p part, most int64) ([]byte, error) {
	scanned := &io.LimitedReader{R: file, N: lineScan + 1}
	data, total, truncated, err := readLines(scanned, p, most)
	if err != nil || scanned.N > 0 {
		r.LinesTotal, r.Truncated = &total, truncated
		return data, err
	}
	if r.Truncated = true; total < p.offset {
		return nil, fmt.Errorf("line %d is not within the first %s of the file (size: %s), where lines are looked for; line %d is the last one there: use offset_bytes/limit_bytes",
			p.offset, sizeText(lineScan), sizeText(r.Size), total)
	}
	return data, nil
}

// readLines reads p.limit lines from line p.offset, or all lines, but not more than most bytes.
// It drops the last newline. It always reads to the end, to count the lines.
func readLines(file io.Reader, p part, most int64) (data []byte, total int64, truncated bool, err error) {
	reader := bufio.NewReaderSize(file, 64<<10)
	first, begins := max(p.offset, 1), true
	for err == nil || errors.Is(err, bufio.ErrBufferFull) {
		var piece []byte
		piece, err = reader.ReadSlice('\n')
		if len(piece) == 0 {
			continue
		}
		if begins {
			total++
		}
		begins = piece[len(piece)-1] == '\n'
		room := most - int64(len(data))
		switch {
		case total < first:
		case p.limit > 0 && total-first >= p.limit, room == 0:
			truncated = true
		case int64(len(piece)) > room:
			data, truncated = append(data, piece[:room]...), true
		default:
			data = append(data, piece...)
		}
	}
	if err == io.EOF {
		err = nil
	}
	return bytes.TrimSuffix(data, []byte("\n")), total, truncated, err
}

func sizeText(n int64) string {
	switch {
	case n >= 1<<30:
		return fmt.Sprintf("%.1fGB", float64(n)/(1<<30))
	case n >= 1<<20:
		return fmt.Sprintf("%.1fMB", float64(n)/(1<<20))
	case n >= 1<<10:
		return fmt.Sprintf("%.1fKB", float64(n)/(1<<10))
	}
	return fmt.Sprintf("%dB", n)
}
