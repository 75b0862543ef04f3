package sandbox

import (
	"errors"
	"fmt"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// This file makes the calls of Landlock itself. The library landlock-lsm/go-landlock applies a
// ruleset to all threads with libpsx, which looks for threads in /proc/self/task. In a process namespace
// these are the numbers outside of it, and it never ends. Here one thread is enough: it becomes the
// command.

// Rights of Landlock, by the first version of its interface that has them.
const (
	execute   = unix.LANDLOCK_ACCESS_FS_EXECUTE
	readFile  = unix.LANDLOCK_ACCESS_FS_READ_FILE
	readDir   = unix.LANDLOCK_ACCESS_FS_READ_DIR
	writeFile = unix.LANDLOCK_ACCESS_FS_WRITE_FILE
	refer     = unix.LANDLOCK_ACCESS_FS_REFER        // 2
	truncate  = unix.LANDLOCK_ACCESS_FS_TRUNCATE     // 3
	ioctl     = unix.LANDLOCK_ACCESS_FS_IOCTL_DEV    // 5
	unixPath  = unix.LANDLOCK_ACCESS_FS_RESOLVE_UNIX // 9

	reading     = execute | readFile | readDir
	ofFiles     = execute | readFile | writeFile | truncate | ioctl
	allOfABI1   = 1<<13 - 1
	tcp         = unix.LANDLOCK_ACCESS_NET_BIND_TCP | unix.LANDLOCK_ACCESS_NET_CONNECT_TCP      // 4
	udp         = unix.LANDLOCK_ACCESS_NET_BIND_UDP | unix.LANDLOCK_ACCESS_NET_CONNECT_SEND_UDP // 10
	otherScopes = unix.LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET | unix.LANDLOCK_SCOPE_SIGNAL         // 6
)

// landlockABI is the version of the kernel's interface, 0 if there is none.
func landlockABI() int {
	version, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	if errno != 0 {
		return 0
	}
	return int(version)
}

// ruleset returns everything that a version can restrict, without the network if that is allowed.
func ruleset(abi int, network bool) unix.LandlockRulesetAttr {
	a := unix.LandlockRulesetAttr{Handled_access_fs: allOfABI1}
	for _, since := range []struct {
		abi  int
		what uint64
	}{{2, refer}, {3, truncate}, {5, ioctl}, {9, unixPath}} {
		if abi >= since.abi {
			a.Handled_access_fs |= since.what
		}
	}
	if network {
		a.Handled_access_fs &^= unixPath
	}
	if abi >= 4 && !network {
		a.Handled_access_net = tcp
	}
	if abi >= 10 && !network {
		a.Handled_access_net |= udp
	}
	if abi >= 6 {
		a.Scoped = otherScopes
	}
	return a
}

// restrict limits this thread, and the command that it becomes, as far as the kernel can.
func (c *Command) restrict() error {
	abi := landlockABI()
	if abi == 0 {
		return nil
	}
	attributes := ruleset(abi, c.Network)
	fd, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(&attributes)), unsafe.Sizeof(attributes), 0)
	if errno != 0 {
		return fmt.Errorf("make the rules for files: %w", errno)
	}
	defer unix.Close(int(fd))
	allow := func(access uint64, paths []string, mayMiss bool) error {
		for _, path := range paths {
			if err := addRule(int(fd), path, access&attributes.Handled_access_fs); err != nil && !(mayMiss && errors.Is(err, os.ErrNotExist)) {
				return fmt.Errorf("allow %s: %w", path, err)
			}
		}
		return nil
	}
	own := c.Read
	if c.Program != "" {
		own = append([]string{c.Program}, own...)
	}
	if err := errors.Join(
		allow(reading, systemPaths, true), allow(readFile|writeFile, devices, true),
		allow(reading, own, false), allow(attributes.Handled_access_fs, c.Write, false),
	); err != nil {
		return err
	}
	if _, _, errno := unix.Syscall(unix.SYS_LANDLOCK_RESTRICT_SELF, fd, 0, 0); errno != 0 {
		return fmt.Errorf("apply the rules for files: %w", errno)
	}
	return nil
}

// addRule allows an access to a file, or to a folder and everything below it.
func addRule(ruleset int, path string, access uint64) error {
	fd, err := unix.Open(path, unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	var stat unix.Stat_t
	if err := unix.Fstat(fd, &stat); err != nil {
		return err
	}
	if stat.Mode&unix.S_IFMT != unix.S_IFDIR {
		access &= ofFiles
	}
	rule := unix.LandlockPathBeneathAttr{Allowed_access: access, Parent_fd: int32(fd)}
	if _, _, errno := unix.Syscall6(unix.SYS_LANDLOCK_ADD_RULE, uintptr(ruleset), unix.LANDLOCK_RULE_PATH_BENEATH, uintptr(unsafe.Pointer(&rule)), 0, 0, 0); errno != 0 {
		return errno
	}
	return nil
}

// systemPaths are programs, libraries and settings that commands need; of /etc only what has no
// secrets.
var systemPaths = []string{
	"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/opt", "/nix/store",
	"/etc/alternatives", "/etc/ld.so.conf.d", "/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.preload",
	"/etc/ssl/certs", "/etc/ssl/openssl.cnf", "/etc/ssl/cert.pem", "/etc/ca-certificates", "/etc/pki/tls/certs", "/etc/pki/ca-trust",
	"/etc/passwd", "/etc/group", "/etc/nsswitch.conf", "/etc/hosts", "/etc/host.conf", "/etc/resolv.conf", "/etc/gai.conf",
	"/etc/services", "/etc/protocols", "/etc/localtime", "/etc/timezone", "/etc/os-release", "/etc/mime.types", "/etc/fonts",
	"/run/systemd/resolve", "/proc/self", "/proc/cpuinfo", "/proc/meminfo", "/proc/version", "/proc/stat", "/proc/loadavg",
	"/proc/uptime", "/proc/filesystems", "/sys/devices/system/cpu", "/dev/random", "/dev/urandom",
}

var devices = []string{"/dev/null", "/dev/zero", "/dev/full"}
