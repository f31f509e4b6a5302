//! SHA-1, which gives Open Chord's nodes and keys their positions on the ring. For nothing else: it
//! is broken.

/// The digest of a text of less than 56 bytes.
pub(super) fn sha1(text: &str) -> [u8; 20] {
    let mut block = [0; 64];
    assert!(text.len() < 56, "names on the ring are short");
    block[..text.len()].copy_from_slice(text.as_bytes());
    block[text.len()] = 0x80;
    let bits = u64::try_from(text.len() * 8).expect("it is short");
    block[56..].copy_from_slice(&bits.to_be_bytes());

    let start = [0x6745_2301, 0xefcd_ab89, 0x98ba_dcfe, 0x1032_5476, 0xc3d2_e1f0];
    let digest = compress(start, &block);
    let mut bytes = [0; 20];
    for (four, word) in bytes.chunks_exact_mut(4).zip(digest) {
        four.copy_from_slice(&word.to_be_bytes());
    }
    bytes
}

fn compress(state: [u32; 5], block: &[u8; 64]) -> [u32; 5] {
    let mut words = [0_u32; 80];
    for (word, bytes) in words.iter_mut().zip(block.chunks_exact(4)) {
        *word = bytes.iter().fold(0, |sum, byte| sum << 8 | u32::from(*byte));
    }
    for at in 16..80 {
        words[at] = (words[at - 3] ^ words[at - 8] ^ words[at - 14] ^ words[at - 16]).rotate_left(1);
    }
    let [mut a, mut b, mut c, mut d, mut e] = state;
    for (at, word) in words.into_iter().enumerate() {
        let (mixed, constant) = match at / 20 {
            0 => (b & c | !b & d, 0x5a82_7999),
            1 => (b ^ c ^ d, 0x6ed9_eba1),
            2 => (b & c | b & d | c & d, 0x8f1b_bcdc),
            _ => (b ^ c ^ d, 0xca62_c1d6_u32),
        };
        let sum =
            a.rotate_left(5).wrapping_add(mixed).wrapping_add(e).wrapping_add(constant).wrapping_add(word);
        (a, b, c, d, e) = (sum, a, b.rotate_left(30), c, d);
    }
    let [a0, b0, c0, d0, e0] = state;
    [a0.wrapping_add(a), b0.wrapping_add(b), c0.wrapping_add(c), d0.wrapping_add(d), e0.wrapping_add(e)]
}
