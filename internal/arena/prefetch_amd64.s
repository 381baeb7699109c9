#include "textflag.h"

// func PrefetchAt(p unsafe.Pointer)
TEXT ·PrefetchAt(SB), NOSPLIT, $0-8
	MOVQ p+0(FP), AX
	PREFETCHT0 (AX)
	RET
