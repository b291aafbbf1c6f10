//! Memory that bytes are read into again and again. The columns of a unit have a window and a page each; taken anew for
//! every page they would be all over the memory, cold, and cleared by the kernel first.

use std::sync::Arc;

use bytes::Bytes;

/// Memory of so many bytes is kept, whatever is needed next: a page of common writers.
pub const KEPT: usize = 2 << 20;

/// Bytes that others may look at, and the memory for the next ones.
#[derive(Debug, Default)]
pub struct ReusedMemory(Arc<Vec<u8>>);

/// The memory of one column, which passes from chunk to chunk.
#[derive(Debug, Default)]
pub struct ColumnMemory {
    /// For what is read from the file.
    pub file: ReusedMemory,
    /// For what a page unpacks to.
    pub page: ReusedMemory,
}

/// One who looks at the bytes.
struct Look(Arc<Vec<u8>>);

impl AsRef<[u8]> for Look {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

impl ReusedMemory {
    /// Bytes that are there.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// The bytes, to look at.
    pub fn look(&self) -> Bytes {
        Bytes::from_owner(Look(self.0.clone()))
    }

    /// The memory without its first `passed` bytes, to be filled up: another one where somebody still looks at it.
    pub fn without(&mut self, passed: usize) -> &mut Vec<u8> {
        let passed = passed.min(self.0.len());
        if Arc::get_mut(&mut self.0).is_none() {
            self.0 = Arc::new(self.0[passed..].to_vec());
            return Arc::make_mut(&mut self.0);
        }
        let bytes = Arc::make_mut(&mut self.0);
        bytes.drain(..passed);
        bytes
    }

    /// The memory, empty, with room for `size` bytes and not for many more.
    pub fn emptied(&mut self, size: usize) -> &mut Vec<u8> {
        if self.0.capacity() > KEPT.max(2 * size) {
            self.0 = Arc::default();
        }
        let bytes = self.without(usize::MAX);
        bytes.reserve_exact(size);
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_used_again_when_nobody_looks() {
        let mut memory = ReusedMemory::default();
        memory.emptied(100).extend(0..100);
        let address = memory.look().as_ptr();
        assert_eq!(memory.without(98), &[98, 99]);
        assert_eq!(memory.look().as_ptr(), address);
        memory.emptied(100).extend(0..100);
        let (look, part) = (memory.look(), memory.look().slice(10..20));
        memory.without(90).extend(100..110);
        assert_eq!(look, Bytes::from_iter(0..100));
        assert_eq!(memory.look(), Bytes::from_iter(90..110));
        drop(look);
        memory.emptied(100).push(1);
        assert_eq!(part, Bytes::from_iter(10..20));
        assert_eq!(memory.len(), 1);
    }
}
