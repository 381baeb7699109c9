package testserver

import (
	"os/exec"
	"syscall"
)

// endWithParent has the kernel kill the process when the thread that starts it ends.
func endWithParent(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}
