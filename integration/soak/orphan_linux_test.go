package soak

import (
	"os/exec"
	"syscall"
)

// endWithParent has the system kill the process when the test ends without doing so. The thread
// that starts the process must live as long as the test.
func endWithParent(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}
