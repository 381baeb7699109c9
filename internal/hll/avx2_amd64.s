#include "textflag.h"

// A group is 32 registers: 24 bytes of a dense value, 32 bytes of a union. A lane of a YMM register
// is 16 bytes. It works on four numbers of 24 bits, each with four registers of six bits.

// The bytes 4 to 15 of each lane make four numbers of 24 bits.
DATA low<>+0(SB)/8, $0xff090807ff060504
DATA low<>+8(SB)/8, $0xff0f0e0dff0c0b0a
DATA low<>+16(SB)/8, $0xff090807ff060504
DATA low<>+24(SB)/8, $0xff0f0e0dff0c0b0a
GLOBL low<>(SB), RODATA|NOPTR, $32

// Four numbers of 24 bits make twelve bytes.
DATA pack<>+0(SB)/8, $0x0908060504020100
DATA pack<>+8(SB)/8, $0xffffffff0e0d0c0a
DATA pack<>+16(SB)/8, $0x0908060504020100
DATA pack<>+24(SB)/8, $0xffffffff0e0d0c0a
GLOBL pack<>(SB), RODATA|NOPTR, $32

// The three words of the lower lane and the three of the upper one make 24 bytes.
DATA words<>+0(SB)/8, $0x0000000100000000
DATA words<>+8(SB)/8, $0x0000000400000002
DATA words<>+16(SB)/8, $0x0000000600000005
DATA words<>+24(SB)/8, $0x0000000700000007
GLOBL words<>(SB), RODATA|NOPTR, $32

// SPLAT puts the 32-bit constant c into every word of y.
#define SPLAT(c, x, y) \
	MOVL         $c, AX; \
	VMOVD        AX, x;  \
	VPBROADCASTD x, y

// func joinAVX2(regs *[Registers]byte, b *[DenseSize]byte)
TEXT ·joinAVX2(SB), NOSPLIT, $0-16
	MOVQ    regs+0(FP), DI
	MOVQ    b+8(FP), SI
	ADDQ    $12, SI               // Loads begin four bytes before what they are for.
	MOVQ    $512, CX
	VMOVDQU low<>(SB), Y15
	SPLAT(0x0000003f, X14, Y14)
	VPSLLD  $8, Y14, Y13
	VPSLLD  $16, Y14, Y12
	VPSLLD  $24, Y14, Y11

join:
	VMOVDQU     (SI), X0
	VINSERTI128 $1, 12(SI), Y0, Y0
	VPSHUFB     Y15, Y0, Y0
	VPSLLD      $2, Y0, Y1
	VPSLLD      $4, Y0, Y2
	VPSLLD      $6, Y0, Y3
	VPAND       Y14, Y0, Y0
	VPAND       Y13, Y1, Y1
	VPAND       Y12, Y2, Y2
	VPAND       Y11, Y3, Y3
	VPOR        Y1, Y0, Y0
	VPOR        Y3, Y2, Y2
	VPOR        Y2, Y0, Y0
	VPMAXUB     (DI), Y0, Y0
	VMOVDQU     Y0, (DI)
	ADDQ        $24, SI
	ADDQ        $32, DI
	DECQ        CX
	JNZ         join
	VZEROUPPER
	RET

// func packAVX2(b *[DenseSize]byte, regs *[Registers]byte)
TEXT ·packAVX2(SB), NOSPLIT, $0-16
	MOVQ    b+0(FP), DI
	MOVQ    regs+8(FP), SI
	ADDQ    $16, DI
	MOVQ    $512, CX
	VMOVDQU pack<>(SB), Y15
	VMOVDQU words<>(SB), Y14
	SPLAT(0x40014001, X13, Y13)   // bytes: first + 64 · second
	SPLAT(0x10000001, X12, Y12)   // words: first + 4096 · second

packing:
	VMOVDQU      (SI), Y0
	VPMADDUBSW   Y13, Y0, Y0
	VPMADDWD     Y12, Y0, Y0
	VPSHUFB      Y15, Y0, Y0
	VPERMD       Y0, Y14, Y0
	VMOVDQU      X0, (DI)
	VEXTRACTI128 $1, Y0, X0
	VMOVQ        X0, 16(DI)
	ADDQ         $32, SI
	ADDQ         $24, DI
	DECQ         CX
	JNZ          packing
	VZEROUPPER
	RET

// func boundsAVX2(regs *[Registers]byte) (low, high byte)
TEXT ·boundsAVX2(SB), NOSPLIT, $0-10
	MOVQ    regs+0(FP), SI
	MOVQ    $256, CX
	VMOVDQU (SI), Y0
	VMOVDQA Y0, Y1
	VMOVDQA Y0, Y2
	VMOVDQA Y0, Y3

bounds:
	VMOVDQU (SI), Y4
	VMOVDQU 32(SI), Y5
	VPMINUB Y4, Y0, Y0
	VPMAXUB Y4, Y1, Y1
	VPMINUB Y5, Y2, Y2
	VPMAXUB Y5, Y3, Y3
	ADDQ    $64, SI
	DECQ    CX
	JNZ     bounds
	VPMINUB Y2, Y0, Y0
	VPMAXUB Y3, Y1, Y1

	// The highest register: the lowest complement.
	VPCMPEQB Y2, Y2, Y2
	VPXOR    Y2, Y1, Y1

#define LOWEST(x, y, tx, r) \
	VEXTRACTI128 $1, y, tx; \
	VPMINUB      tx, x, x;  \
	VPSRLDQ      $8, x, tx; \
	VPMINUB      tx, x, x;  \
	VPSRLDQ      $4, x, tx; \
	VPMINUB      tx, x, x;  \
	VPSRLDQ      $2, x, tx; \
	VPMINUB      tx, x, x;  \
	VPSRLDQ      $1, x, tx; \
	VPMINUB      tx, x, x;  \
	VMOVD        x, r

	LOWEST(X0, Y0, X3, AX)
	LOWEST(X1, Y1, X3, BX)
	NOTL BX
	MOVB AX, low+8(FP)
	MOVB BX, high+9(FP)
	VZEROUPPER
	RET

// CONST keeps the value that Y0 counts from and adds one to it.
#define CONST(at) \
	VMOVDQU Y0, at(SP); \
	VPSUBB  Y1, Y0, Y0

// CMP counts in y, byte for byte, where Y12 is the constant.
#define CMP(at, t, y) \
	VPCMPEQB at(SP), Y12, t; \
	VPSUBB   t, y, y

// SUM adds the sum of the bytes of y to counts[at/4], and clears y.
#define SUM(at, x, y) \
	VPSADBW      Y13, y, y;    \
	VEXTRACTI128 $1, y, X14;   \
	VPADDQ       X14, x, x;    \
	VPSRLDQ      $8, x, X14;   \
	VPADDQ       X14, x, x;    \
	VMOVD        x, AX;        \
	ADDL         AX, at(DI);   \
	VPXOR        y, y, y

// func tallyAVX2(counts *[8]uint32, regs *[Registers]byte, first byte)
TEXT ·tallyAVX2(SB), NOSPLIT, $256-17
	MOVQ         counts+0(FP), DI
	MOVQ         regs+8(FP), SI
	MOVBLZX      first+16(FP), AX
	VMOVD        AX, X0
	VPBROADCASTB X0, Y0
	VPCMPEQB     Y1, Y1, Y1
	CONST(0)
	CONST(32)
	CONST(64)
	CONST(96)
	CONST(128)
	CONST(160)
	CONST(192)
	CONST(224)
	VPXOR        Y0, Y0, Y0
	VPXOR        Y1, Y1, Y1
	VPXOR        Y2, Y2, Y2
	VPXOR        Y3, Y3, Y3
	VPXOR        Y4, Y4, Y4
	VPXOR        Y5, Y5, Y5
	VPXOR        Y6, Y6, Y6
	VPXOR        Y7, Y7, Y7
	VPXOR        Y13, Y13, Y13
	MOVQ         $4, BX

chunk: // of 128 groups, so that no byte overflows
	MOVQ $128, CX

tally:
	VMOVDQU (SI), Y12
	CMP(0, Y8, Y0)
	CMP(32, Y9, Y1)
	CMP(64, Y10, Y2)
	CMP(96, Y11, Y3)
	CMP(128, Y8, Y4)
	CMP(160, Y9, Y5)
	CMP(192, Y10, Y6)
	CMP(224, Y11, Y7)
	ADDQ    $32, SI
	DECQ    CX
	JNZ     tally
	SUM(0, X0, Y0)
	SUM(4, X1, Y1)
	SUM(8, X2, Y2)
	SUM(12, X3, Y3)
	SUM(16, X4, Y4)
	SUM(20, X5, Y5)
	SUM(24, X6, Y6)
	SUM(28, X7, Y7)
	DECQ    BX
	JNZ     chunk
	VZEROUPPER
	RET
