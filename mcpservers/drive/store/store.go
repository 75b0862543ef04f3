package store

import "context"

// Store is a folder with files and folders below it. It is safe for concurrent use. No method reads or changes
// anything outside of the folder; an ID that is not shown to be within it is [ErrOutside] or [ErrNotFound].
type Store interface {
	// Name says what the folder is, for people and models, such as "Google Drive folder Reports".
	Name() string
	// List returns what is directly in a folder.
	List(ctx context.Context, folder string, page Page) (Listing, error)
	// Search returns files and folders anywhere below a folder whose names contain a text, in any case.
	Search(ctx context.Context, folder, text string, page Page) (Listing, error)
	// Stat describes a file, a folder or a shortcut.
	Stat(ctx context.Context, id string) (File, error)
	// Read returns a part of a file: at most limit bytes from offset on.
	Read(ctx context.Context, id string, offset int64, limit int) (Part, error)
	// Create makes a file. If there is one with its name it is [ErrExists].
	Create(ctx context.Context, c Creation) (File, error)
	// Append adds to the end of a file.
	Append(ctx context.Context, a Addition) (Appended, error)
	// Delete moves a file or an empty folder to the trash, or removes it.
	Delete(ctx context.Context, d Deletion) (Deleted, error)
	Close() error
}

// FolderMaker is a Store whose folders exist without files.
type FolderMaker interface {
	CreateFolder(ctx context.Context, c Creation) (File, error)
}

// Kinds of a File.
const (
	KindFile     = "file"
	KindFolder   = "folder"
	KindShortcut = "shortcut" // leads to another file or folder
	KindDocument = "document" // of Google Docs, Sheets, Slides and others: read as text, not appended to
)

// File describes a file, a folder or a shortcut.
type File struct {
	ID       string `json:"id"`
	Name     string `json:"name"`
	Kind     string `json:"kind" jsonschema:"file, folder, shortcut or document (Google Docs and similar: can be read as text, not appended to)"`
	Type     string `json:"type,omitempty" jsonschema:"media type"`
	Size     int64  `json:"size" jsonschema:"bytes; 0 if it is not known"`
	Modified string `json:"modified,omitempty" jsonschema:"time of the last change, RFC 3339"`
	// Version changes with the content.
	Version string `json:"version,omitempty" jsonschema:"for append_file and delete_file"`
	// Folder is the ID of the folder in which it is, "" for the configured one.
	Folder string `json:"folder,omitempty" jsonschema:"id of its folder; none for the configured folder"`
	Target string `json:"target,omitempty" jsonschema:"id of what a shortcut leads to"`
}

// Page is a part of a listing.
type Page struct {
	Token string // of the page before; "" for the first
	Limit int
}

// Listing is a page of files.
type Listing struct {
	Files []File `json:"files"`
	Next  string `json:"next_page,omitempty" jsonschema:"page for the next call, if there is more"`
	// Cut reports that a search ended before it had looked at everything.
	Cut bool `json:"cut,omitempty" jsonschema:"the search has not looked at everything"`
}

// Part is a part of a file.
type Part struct {
	File File
	Data []byte
	// More reports that the file goes on after Data.
	More bool
	// As is the media type of Data if it is not that of the file, such as of an exported document.
	As string
}

// Creation is a file to make. Content is not used for a folder.
type Creation struct {
	Folder  string // ID
	Name    string
	Content []byte
	Type    string // media type; "" for what the name says
	Mark    Mark
}

// Addition is what to append to a file.
type Addition struct {
	ID      string
	Content []byte
	Version string // that the file must have; "" for any
	Mark    Mark
}

// Appended is the result of an append.
type Appended struct {
	File File `json:"file"`
	// Warning says what a person should know, such as that somebody changed the file at the same moment.
	Warning string `json:"warning,omitempty"`
}

// Deletion is a file to delete.
type Deletion struct {
	ID      string
	Version string // that the file must have; "" for any
	Mark    Mark
}

// Deleted is the result of a deletion.
type Deleted struct {
	File File `json:"file"`
	// Trash says where the file is now; "" if it is gone.
	Trash string `json:"trash,omitempty" jsonschema:"where the file is now; none if it is gone for good"`
}
