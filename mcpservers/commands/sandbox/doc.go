// Package sandbox runs one program with limits: of time, memory and output, of the files and the
// network that it reaches.
//
//	box, err := sandbox.New(8)
//	result, err := box.Run(ctx, sandbox.Command{Program: "/usr/bin/date", Time: time.Minute})
//
// On Linux the program of this process is started again, in namespaces of its own; there it limits
// itself, in an init function, and becomes the command. [Box.Abilities] says what a machine offers:
//
//	Landlock              only Read, Write, the private folder, and programs and libraries of the
//	                      system can be opened; without Network no TCP and, as far as the kernel has
//	                      it, no sockets of others
//	network namespace     without Network there is no network at all
//	process namespace     every process that the command started ends with it
//	resource limits       memory (of each process), CPU time (Time and 2s, for each processor), no
//	                      core files; not the number of processes, shared memory or sizes of files
//
// The command leads a process group that is killed at its end. It is killed, too, when the process
// that called [Box.Run] dies (PR_SET_PDEATHSIG). It never gains rights by exec (no_new_privs), so sudo does
// not work in it. Its input is empty, its environment is what [Command] says, and its folder, HOME and TMPDIR
// are a new private folder that is removed afterwards, unless Dir names another.
//
// On other systems only time, output and the process group are limited.
//
// What is not limited: sockets in the file system below kernels with Landlock ABI 9, the number of
// processes, and the names of other processes if /proc is in Read.
package sandbox
