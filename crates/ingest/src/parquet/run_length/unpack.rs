//! Bit-packed values, eight at a time: as many take as many bytes as one has bits.

/// Values of a group.
pub const GROUP: usize = 8;
/// Bytes from which a group of values of any width is read: the last one may begin in byte 28.
const READ: usize = 40;

/// Unpacks groups of values of `width` bits from the beginning of `bytes`, as long as so many bytes are left that none
/// is read beyond them; how many groups.
pub fn unpack(bytes: &[u8], width: u32, groups: &mut [[u32; GROUP]]) -> usize {
    macro_rules! widths {
        ($($width:literal)*) => {
            match width {
                $($width => unpack_as::<$width>(bytes, groups),)*
                _ => 0,
            }
        };
    }
    widths!(1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32)
}

/// Places and shifts are known when this is compiled.
fn unpack_as<const WIDTH: usize>(bytes: &[u8], groups: &mut [[u32; GROUP]]) -> usize {
    let mut done = 0;
    for group in groups {
        let Some(read) = bytes.get(done * WIDTH..).and_then(|rest| rest.first_chunk::<READ>()) else { break };
        for (i, value) in group.iter_mut().enumerate() {
            let (byte, bit) = (i * WIDTH / 8, i * WIDTH % 8);
            let mut word = [0; 8];
            word.copy_from_slice(&read[byte..byte + 8]);
            *value = (u64::from_le_bytes(word) >> bit) as u32 & (u32::MAX >> (32 - WIDTH));
        }
        done += 1;
    }
    done
}
