package arena

import (
	"bytes"
	"os"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// hugeFolder is where Linux says whether and how it offers huge pages.
const hugeFolder = "/sys/kernel/mm/transparent_hugepage/"

// The system's calls. Tests replace them.
var (
	resident = residentPages
	collapse = func(p unsafe.Pointer) error {
		return unix.Madvise(unsafe.Slice((*byte)(p), halfBytes), unix.MADV_COLLAPSE)
	}
)

// HugePagesOffered reports whether the system has huge pages of 2 MiB and its administrator lets
// programs use them.
func HugePagesOffered() bool {
	mode, err := os.ReadFile(hugeFolder + "enabled")
	if err != nil || bytes.Contains(mode, []byte("[never]")) {
		return false
	}
	size, err := os.ReadFile(hugeFolder + "hpage_pmd_size")
	return err == nil && string(bytes.TrimSpace(size)) == "2097152"
}

// RefuseHugePages keeps the system from giving the process huge pages of its own accord, which
// would make free memory resident. Those of Collapse remain. It needs Linux 6.18; before, nothing
// changes: what Redis does, to refuse all of them, would refuse these too.
func RefuseHugePages() {
	_ = unix.Prctl(unix.PR_SET_THP_DISABLE, 1, unix.PR_THP_DISABLE_EXCEPT_ADVISED, 0, 0)
}

// Collapse has the system make one page of the half. It may run beside the executor and takes from
// half a millisecond to tens of them; who touches the half meanwhile waits for up to half a
// millisecond. It reports whether that was done, and how long it took.
//
// err is the system's refusal: EINVAL from a kernel before 6.1, others when it has no memory in one
// piece. There is no error if the half is not resident to the last page.
func (f Half) Collapse() (done bool, took time.Duration, err error) {
	start := time.Now()
	if !resident(f.at) {
		return false, time.Since(start), nil
	}
	warmUp()
	err = collapse(f.at)
	return err == nil, time.Since(start), err
}

// residentPages reports whether all pages of the half are. The system counts pages that were read
// and never written, as a new table may have: they take memory only when the half is collapsed.
func residentPages(p unsafe.Pointer) bool {
	pages := make([]byte, halfBytes/os.Getpagesize())
	_, _, errno := unix.Syscall(unix.SYS_MINCORE, uintptr(p), halfBytes,
		uintptr(unsafe.Pointer(unsafe.SliceData(pages))))
	for _, b := range pages {
		if b&1 == 0 {
			return false
		}
	}
	return errno == 0
}

// warmUp takes a huge page from the system and gives it back. The collapse that follows gets the
// same one. It copies under a lock, while whoever touches the half waits; on a virtual machine a
// page that it has not used before takes the host 5 ms, which so are spent before.
func warmUp() {
	p, err := mapNear(nil, 2*halfBytes)
	if err != nil {
		return
	}
	page := unsafe.Slice((*byte)(aligned(p)), halfBytes)
	if unix.Madvise(page, unix.MADV_HUGEPAGE) == nil {
		page[0] = 1
	}
	_ = munmap(p, 2*halfBytes) // if this fails, one huge page is wasted
}
