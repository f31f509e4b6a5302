//! The table of litmus tests.

/// A litmus test.
#[derive(Clone, Copy, Debug)]
pub struct Litmus {
    /// Its name in the literature, and how this variant differs.
    pub name: &'static str,
    /// The program.
    pub program: &'static str,
    /// The outcome that is asked for.
    pub outcome: &'static str,
    /// Whether `sc`, `tso` and `rc11` allow it.
    pub allowed: [bool; 3],
}

const fn litmus(
    name: &'static str,
    program: &'static str,
    outcome: &'static str,
    allowed: [bool; 3],
) -> Litmus {
    Litmus { name, program, outcome, allowed }
}

const NOWHERE: [bool; 3] = [false, false, false];
const EVERYWHERE: [bool; 3] = [true, true, true];
const WEAK: [bool; 3] = [false, true, true];
const RELAXED: [bool; 3] = [false, false, true];

/// All of them. Tests compare each with the axioms.
pub const LITMUS: &[Litmus] = &[
    litmus("SB", "Wx1 Ry | Wy1 Rx", "0|0;110", WEAK),
    litmus("SB, release and acquire", "Wx1.rel Ry.acq | Wy1.rel Rx.acq", "0|0;110", WEAK),
    litmus("SB, sc", "Wx1.sc Ry.sc | Wy1.sc Rx.sc", "0|0;110", NOWHERE),
    litmus("SB, sc stores only", "Wx1.sc Ry | Wy1.sc Rx", "0|0;110", RELAXED),
    litmus("SB, sc loads only", "Wx1 Ry.sc | Wy1 Rx.sc", "0|0;110", WEAK),
    litmus("SB, one thread sc", "Wx1.sc Ry.sc | Wy1 Rx", "0|0;110", WEAK),
    litmus("SB, sc fences", "Wx1 F.sc Ry | Wy1 F.sc Rx", "0|0;110", NOWHERE),
    litmus("SB, one sc fence", "Wx1 F.sc Ry | Wy1 F.ar Rx", "0|0;110", WEAK),
    litmus("SB, fence and sc", "Wx1 F.sc Ry | Wy1.sc Rx.sc", "0|0;110", NOWHERE),
    litmus("SB, swaps", "Xx1.ar Ry.acq | Xy1.ar Rx.acq", "00|00;110", RELAXED),
    litmus("SB, sc swaps", "Xx1.sc Ry.sc | Xy1.sc Rx.sc", "00|00;110", NOWHERE),
    litmus("SB, swap as fence", "Wx1 Xz1.sc Ry | Wy1 Xz2.sc Rx", "00|10;112", NOWHERE),
    litmus("SB, three threads", "Wx1 Ry | Wy1 Rz | Wz1 Rx", "0|0|0;111", WEAK),
    litmus("SB, own store seen", "Wx1 Rx Ry | Wy1 Ry Rx", "10|10;110", WEAK),
    litmus("MP", "Wx1 Wy1 | Ry Rx", "|10;110", RELAXED),
    litmus("MP, release and acquire", "Wx1 Wy1.rel | Ry.acq Rx", "|10;110", NOWHERE),
    litmus("MP, release only", "Wx1 Wy1.rel | Ry Rx", "|10;110", RELAXED),
    litmus("MP, acquire only", "Wx1 Wy1 | Ry.acq Rx", "|10;110", RELAXED),
    litmus("MP, sc", "Wx1 Wy1.sc | Ry.sc Rx", "|10;110", NOWHERE),
    litmus("MP, fences", "Wx1 F.rel Wy1 | Ry F.acq Rx", "|10;110", NOWHERE),
    litmus("MP, release fence only", "Wx1 F.rel Wy1 | Ry Rx", "|10;110", RELAXED),
    litmus("MP, acquire fence only", "Wx1 Wy1 | Ry F.acq Rx", "|10;110", RELAXED),
    litmus("MP, fence on the wrong side", "F.rel Wx1 Wy1 | Ry F.acq Rx", "|10;110", RELAXED),
    litmus("MP, fence and acquire", "Wx1 F.rel Wy1 | Ry.acq Rx", "|10;110", NOWHERE),
    litmus("MP, release and fence", "Wx1 Wy1.rel | Ry F.acq Rx", "|10;110", NOWHERE),
    litmus("MP, release sequence of a swap", "Wx1 Wy1.rel | Xy2 | Ry.acq Rx", "|1|20;120", NOWHERE),
    litmus("MP, own store ends the sequence", "Wx1 Wy1.rel Wy2 | Ry.acq Rx", "|20;120", RELAXED),
    litmus("MP, another store ends the sequence", "Wx1 Wy1.rel | Wy2 | Ry.acq Rx", "||20;120", RELAXED),
    litmus("MP, swap as flag", "Wx1 Xy1.rel | Ry.acq Rx", "0|10;110", NOWHERE),
    litmus("MP, relaxed swap as flag", "Wx1 Xy1 | Ry.acq Rx", "0|10;110", RELAXED),
    litmus("MP, swap as acquire", "Wx1 Wy1.rel | Xy2.acq Rx", "|10;120", NOWHERE),
    litmus("LB", "Rx Wy1 | Ry Wx1", "1|1;110", NOWHERE),
    litmus("LB, acquire", "Rx.acq Wy1 | Ry.acq Wx1", "1|1;110", NOWHERE),
    litmus("LB, one side seen", "Rx Wy1 | Ry Wx1", "0|1;110", EVERYWHERE),
    litmus("WRC", "Wx1 | Rx Wy1 | Ry Rx", "|1|10;110", RELAXED),
    litmus("WRC, release and acquire", "Wx1 | Rx.acq Wy1.rel | Ry.acq Rx", "|1|10;110", NOWHERE),
    litmus("WRC, no release", "Wx1 | Rx.acq Wy1 | Ry.acq Rx", "|1|10;110", RELAXED),
    litmus("WRC, no acquire", "Wx1 | Rx Wy1.rel | Ry.acq Rx", "|1|10;110", NOWHERE),
    litmus("IRIW", "Wx1 | Wy1 | Rx Ry | Ry Rx", "||10|10;110", RELAXED),
    litmus("IRIW, acquire", "Wx1.rel | Wy1.rel | Rx.acq Ry.acq | Ry.acq Rx.acq", "||10|10;110", RELAXED),
    litmus("IRIW, sc", "Wx1.sc | Wy1.sc | Rx.sc Ry.sc | Ry.sc Rx.sc", "||10|10;110", NOWHERE),
    litmus("IRIW, sc loads", "Wx1 | Wy1 | Rx.sc Ry.sc | Ry.sc Rx.sc", "||10|10;110", NOWHERE),
    litmus("IRIW, sc fences", "Wx1 | Wy1 | Rx F.sc Ry | Ry F.sc Rx", "||10|10;110", NOWHERE),
    litmus("2+2W", "Wx1 Wy2 | Wy1 Wx2", "|;110", RELAXED),
    litmus("2+2W, release", "Wx1.rel Wy2.rel | Wy1.rel Wx2.rel", "|;110", RELAXED),
    litmus("2+2W, sc", "Wx1.sc Wy2.sc | Wy1.sc Wx2.sc", "|;110", NOWHERE),
    litmus("2+2W, sc fences", "Wx1 F.sc Wy2 | Wy1 F.sc Wx2", "|;110", NOWHERE),
    litmus("ISA2", "Wx1 Wy1 | Ry Wz1 | Rz Rx", "|1|10;111", RELAXED),
    litmus("ISA2, release and acquire", "Wx1 Wy1.rel | Ry.acq Wz1.rel | Rz.acq Rx", "|1|10;111", NOWHERE),
    litmus("ISA2, relaxed in the middle", "Wx1 Wy1.rel | Ry Wz1.rel | Rz.acq Rx", "|1|10;111", RELAXED),
    litmus("R", "Wx1 Wy1 | Wy2 Rx", "|0;120", WEAK),
    litmus("R, sc", "Wx1.sc Wy1.sc | Wy2.sc Rx.sc", "|0;120", NOWHERE),
    litmus("R, sc fences", "Wx1 F.sc Wy1 | Wy2 F.sc Rx", "|0;120", NOWHERE),
    litmus("S", "Wx2 Wy1 | Ry Wx1", "|1;210", RELAXED),
    litmus("S, release and acquire", "Wx2 Wy1.rel | Ry.acq Wx1", "|1;210", NOWHERE),
    litmus("Z6", "Wx1 Wy1 | Wy2 Wz1 | Rz Rx", "||10;121", RELAXED),
    litmus("CoRR", "Wx1 | Rx Rx", "|10;100", NOWHERE),
    litmus("CoRR, two readers", "Wx1 | Wx2 | Rx Rx | Rx Rx", "||12|21;200", NOWHERE),
    litmus("CoRW", "Rx Wx1 | Wx2", "2|;200", NOWHERE),
    litmus("CoWR", "Wx1 Rx | Wx2", "2|;100", NOWHERE),
    litmus("CoWW", "Wx1 Wx2 | Rx Rx", "|21;200", NOWHERE),
    litmus("swaps are atomic", "Xx1 | Xx2", "0|0;200", NOWHERE),
    litmus("swaps follow each other", "Xx1 | Xx2 | Xx3", "0|1|2;300", EVERYWHERE),
    litmus("Dekker, sc and release", "Wx1.sc Ry.sc | Wy1.rel Rx.sc", "0|0;110", WEAK),
    litmus("W+RWC, sc fence", "Wx1 Wy1.rel | Ry.acq Rz | Wz1 F.sc Rx", "|10|0;111", RELAXED),
    litmus("W+RWC, sc fences", "Wx1 Wy1.rel | Ry.acq F.sc Rz | Wz1 F.sc Rx", "|10|0;111", NOWHERE),
    litmus("RWC, sc fences", "Wx1 | Rx F.sc Ry | Wy1 F.sc Rx", "|10|0;110", NOWHERE),
    litmus("RWC", "Wx1 | Rx Ry | Wy1 Rx", "|10|0;110", WEAK),
];
