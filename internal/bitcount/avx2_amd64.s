#include "textflag.h"

// The number of bits set in 0 to 15, for each lane.
DATA counts<>+0(SB)/8, $0x0302020102010100
DATA counts<>+8(SB)/8, $0x0403030203020201
DATA counts<>+16(SB)/8, $0x0302020102010100
DATA counts<>+24(SB)/8, $0x0403030203020201
GLOBL counts<>(SB), RODATA|NOPTR, $32

// BYTES adds to each byte of sum how many bits are set in the byte of the 32 at SI + at.
#define BYTES(at, low, high, sum) \
	VMOVDQU at(SI), low;         \
	VPSRLW  $4, low, high;       \
	VPAND   Y14, low, low;       \
	VPAND   Y14, high, high;     \
	VPSHUFB low, Y15, low;       \
	VPSHUFB high, Y15, high;     \
	VPADDB  low, sum, sum;       \
	VPADDB  high, sum, sum

// func countAVX2(p *byte, steps int) int
TEXT ·countAVX2(SB), NOSPLIT, $0-24
	MOVQ         p+0(FP), SI
	MOVQ         steps+8(FP), CX
	VMOVDQU      counts<>(SB), Y15
	MOVL         $0x0f0f0f0f, AX
	VMOVD        AX, X14
	VPBROADCASTD X14, Y14
	VPXOR        Y13, Y13, Y13
	VPXOR        Y0, Y0, Y0

count:
	VPXOR   Y1, Y1, Y1
	VPXOR   Y2, Y2, Y2
	BYTES(0, Y3, Y4, Y1)
	BYTES(32, Y5, Y6, Y2)
	BYTES(64, Y7, Y8, Y1)
	BYTES(96, Y9, Y10, Y2)
	VPADDB  Y2, Y1, Y1       // 32 at most
	VPSADBW Y13, Y1, Y1
	VPADDQ  Y1, Y0, Y0
	ADDQ    $128, SI
	DECQ    CX
	JNZ     count

	VEXTRACTI128 $1, Y0, X1
	VPADDQ       X1, X0, X0
	VPSRLDQ      $8, X0, X1
	VPADDQ       X1, X0, X0
	VMOVQ        X0, AX
	MOVQ         AX, ret+16(FP)
	VZEROUPPER
	RET
