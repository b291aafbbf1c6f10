//! The pages of a column chunk, with everything checked that the decoder takes on trust: sizes
//! before memory is taken for them, levels and lengths before values are made of them.

use std::sync::Arc;

use bytes::{Buf, Bytes};
use parquet::basic::{Compression, Encoding, Type};
use parquet::column::page::{Page, PageMetadata, PageReader};
use parquet::errors::Result;
use parquet::file::metadata::ColumnChunkMetaData;
use parquet::file::reader::ChunkReader;
use parquet::file::serialized_reader::SerializedPageReader;
use parquet::schema::types::ColumnDescPtr;

use super::budget::{Budget, ColumnTexts};
use super::inflate;
use super::levels::{RowLengths, walk};
use super::page_header::PageHeader;
use super::reused_memory::{ColumnMemory, ReusedMemory};
use super::run_length::{HybridRuns, bad};
use super::text_bytes::TextPage;
use super::unpack_page;
use super::window::Window;
use crate::memory_turns::wait_for_memory;
use crate::storage::ranges::Ranges;
use stapo_base::guard::decoding;
use stapo_batch::limits::Limits;

/// The pages of a column chunk.
pub struct CheckedPages {
    inner: SerializedPageReader<Window>,
    window: Arc<Window>,
    descriptor: ColumnDescPtr,
    codec: Compression,
    memory: ReusedMemory,
    budget: Budget,
    /// Where the page that was read last starts, where the next one does, and where the chunk ends.
    page_at: u64,
    at: u64,
    end: u64,
    taken: u64,
    rows: RowLengths,
    texts: Option<ColumnTexts>,
    left: Left,
    /// Whether a page was there already: a dictionary comes first.
    begun: bool,
}

/// What the footer announces and the pages have not brought yet.
#[derive(Clone, Copy)]
struct Left {
    values: i64,
    /// Not known once a page was passed over.
    known: bool,
}

impl CheckedPages {
    /// The pages of `chunk`, which has `rows` rows, read through `memory`.
    pub fn open(
        file: &Arc<dyn Ranges>,
        chunk: &ColumnChunkMetaData,
        rows: usize,
        budget: &Budget,
        memory: ColumnMemory,
    ) -> Result<Self> {
        let (start, length) = decoding(|| bad("no place in the file"), || Ok(chunk.byte_range()))?;
        let end = start.checked_add(length).ok_or_else(|| bad("no place in the file"))?;
        let window = Arc::new(Window::new(file.clone(), end, memory.file));
        let codec = chunk.compression();
        let inner = match unpack_page::is_ours(codec) {
            true => {
                let packed = chunk.clone().into_builder().set_compression(Compression::UNCOMPRESSED);
                SerializedPageReader::new(window.clone(), &packed.build()?, rows, None)?
            }
            false => SerializedPageReader::new(window.clone(), chunk, rows, None)?,
        };
        let rows = RowLengths::new(budget.batch_rows());
        let left = Left { values: chunk.num_values(), known: true };
        let descriptor = chunk.column_descr_ptr();
        Ok(Self {
            inner,
            window,
            descriptor,
            codec,
            memory: memory.page,
            budget: budget.clone(),
            page_at: start,
            at: start,
            end,
            taken: 0,
            rows,
            texts: None,
            left,
            begun: false,
        })
    }

    /// Counts the texts of the column, where it has any.
    pub fn with_texts(mut self, texts: &ColumnTexts) -> Self {
        self.texts = (self.descriptor.physical_type() == Type::BYTE_ARRAY).then(|| texts.clone());
        self
    }

    /// Leaves the memory to the next chunk of the column.
    pub fn leave_memory(&mut self) -> ColumnMemory {
        ColumnMemory { file: self.window.leave_memory(), page: std::mem::take(&mut self.memory) }
    }

    /// The header of the next page; `None` behind the last.
    fn next_header(&mut self) -> Result<Option<PageHeader>> {
        while self.at < self.end {
            let (header, size) = PageHeader::read(self.window.get_read(self.at)?.get_ref())?;
            let next = self.at.checked_add(size as u64).and_then(|at| at.checked_add(header.compressed));
            self.page_at = self.at;
            self.at = next.filter(|at| *at <= self.end).ok_or_else(|| bad("more bytes than its column"))?;
            if header.is_index() {
                continue;
            }
            if std::mem::replace(&mut self.begun, true) && header.is_dictionary() {
                return Err(bad("a dictionary behind other pages"));
            }
            return Ok(Some(header));
        }
        Ok(None)
    }

    fn check(&mut self, page: &Page) -> Result<()> {
        match page {
            Page::DictionaryPage { buf, .. } => self.texts.as_ref().map_or(Ok(()), |texts| {
                texts.lock().unwrap_or_else(|e| e.into_inner()).0.add_dictionary(buf)
            }),
            Page::DataPage { buf, num_values, encoding, def_level_encoding, rep_level_encoding, .. } => {
                let mut rest = buf.clone();
                let repetition =
                    self.prefixed(&mut rest, *rep_level_encoding, self.descriptor.max_rep_level())?;
                let definition =
                    self.prefixed(&mut rest, *def_level_encoding, self.descriptor.max_def_level())?;
                self.check_data(*num_values, *encoding, rest, repetition, definition)
            }
            Page::DataPageV2 {
                buf, num_values, encoding, def_levels_byte_len, rep_levels_byte_len, ..
            } => {
                let (rep, def) = (*rep_levels_byte_len as usize, *def_levels_byte_len as usize);
                let levels = |from: usize, to: usize| buf.get(from..to).map(|_| buf.slice(from..to));
                let repetition = levels(0, rep).ok_or_else(|| bad("levels that are cut off"))?;
                let definition = levels(rep, rep + def).ok_or_else(|| bad("levels that are cut off"))?;
                let data = buf.slice(rep + def..);
                let of = |bytes, most| (most > 0).then_some(bytes);
                let repetition = of(repetition, self.descriptor.max_rep_level());
                let definition = of(definition, self.descriptor.max_def_level());
                self.check_data(*num_values, *encoding, data, repetition, definition)
            }
        }
    }

    /// Levels of the first kind of page, which are preceded by their size; `None` where there are
    /// none, or where they have the encoding of very old files.
    fn prefixed(&self, rest: &mut Bytes, encoding: Encoding, most: i16) -> Result<Option<Bytes>> {
        if most == 0 {
            return Ok(None);
        }
        if encoding != Encoding::RLE {
            return Err(bad("levels of an encoding that is not written any more"));
        }
        if rest.len() < 4 {
            return Err(bad("levels that are cut off"));
        }
        let size = rest.get_u32_le() as usize;
        if size > rest.len() {
            return Err(bad("levels that are cut off"));
        }
        Ok(Some(rest.split_to(size)))
    }

    fn check_data(
        &mut self,
        values: u32,
        encoding: Encoding,
        data: Bytes,
        repetition: Option<Bytes>,
        definition: Option<Bytes>,
    ) -> Result<()> {
        let values = values as usize;
        self.left.values -= values as i64;
        let (mut starts, is_flat) = (values as u64, repetition.is_none());
        if let Some(levels) = repetition {
            starts = 0;
            let (most, rows) = (self.descriptor.max_rep_level(), &mut self.rows);
            walk(levels, most, values, &mut |level, count| {
                starts += if level == 0 { count as u64 } else { 0 };
                rows.add(level == 0, count as u64);
            })?;
        }
        let tokens = self.rows.largest;
        if tokens > Limits::SHARED_TOKENS {
            wait_for_memory();
        }
        if tokens > self.budget.limits().tokens() {
            return Err(self.budget.refuse(self.budget.limits().too_many_tokens(tokens)));
        }
        let mut present = values;
        if let Some(levels) = definition {
            let most = self.descriptor.max_def_level();
            present = 0;
            walk(levels, most, values, &mut |level, count| {
                present += if level == most as u32 { count } else { 0 };
            })?;
        }
        self.count_texts(&TextPage { rows: starts, is_flat, present, encoding, data: data.clone() })?;
        let width = match self.descriptor.physical_type() {
            Type::INT32 | Type::FLOAT => Some(4),
            Type::INT64 | Type::DOUBLE => Some(8),
            Type::INT96 => Some(12),
            Type::FIXED_LEN_BYTE_ARRAY => usize::try_from(self.descriptor.type_length()).ok(),
            Type::BOOLEAN | Type::BYTE_ARRAY => None,
        };
        let needed = width.and_then(|width| present.checked_mul(width));
        match (encoding, needed) {
            (Encoding::BYTE_STREAM_SPLIT, Some(needed)) if needed != data.len() => {
                Err(bad("a length that its values do not have"))
            }
            (Encoding::PLAIN, Some(needed)) if needed > data.len() => Err(bad("fewer values than announced")),
            #[allow(deprecated)] // by writers; readers meet it in every file of the first version
            (Encoding::RLE_DICTIONARY | Encoding::PLAIN_DICTIONARY, _) if present > 0 => {
                let width = *data.first().ok_or_else(|| bad("fewer values than announced"))?;
                HybridRuns::new(data.slice(1..), width.into())?.require(present)
            }
            _ => Ok(()),
        }
    }

    fn count_texts(&self, page: &TextPage) -> Result<()> {
        let Some(texts) = &self.texts else { return Ok(()) };
        let mut texts = texts.lock().unwrap_or_else(|e| e.into_inner());
        let now = texts.0.add_page(page)?;
        self.budget.replace_texts(std::mem::replace(&mut texts.1, now), now)
    }
}

impl PageReader for CheckedPages {
    fn get_next_page(&mut self) -> Result<Option<Page>> {
        let header = self.next_header()?;
        if let Some(header) = &header {
            let taken = header.uncompressed + header.compressed;
            self.budget.replace(std::mem::replace(&mut self.taken, taken), taken)?;
            header.check_dictionary(&self.descriptor)?;
            if let Some((part, announced)) = header.packed() {
                let length = usize::try_from(part.end - part.start).map_err(|_| bad("no place in memory"))?;
                let length = inflate::looked_at(self.codec, length);
                let packed = self.window.get_bytes(self.at - header.compressed + part.start, length)?;
                inflate::check(self.codec, packed, announced, self.budget.limits().pages())?;
            }
            self.window.open(self.page_at..self.at)?;
        }
        let failed = || bad("bytes that the decoder fails on");
        let size = header.filter(|_| self.codec != Compression::UNCOMPRESSED).map(|h| h.uncompressed);
        let page = decoding(failed, || {
            let page = self.inner.get_next_page()?;
            match (page, size) {
                (Some(page), Some(size)) if unpack_page::is_ours(self.codec) => {
                    unpack_page::unpack(page, size, &mut self.memory).map(Some)
                }
                (page, _) => Ok(page),
            }
        })?;
        match &page {
            Some(page) if size.is_some_and(|size| size != page.buffer().len() as u64) => {
                return Err(bad("another size than its header announces"));
            }
            Some(page) => self.check(page)?,
            None if self.left.known && self.left.values != 0 => {
                return Err(bad("another number of values than the footer announces"));
            }
            None => {}
        }
        Ok(page)
    }

    fn peek_next_page(&mut self) -> Result<Option<PageMetadata>> {
        decoding(|| bad("bytes that the decoder fails on"), || self.inner.peek_next_page())
    }

    fn skip_next_page(&mut self) -> Result<()> {
        self.next_header()?;
        self.left.known = false;
        decoding(|| bad("bytes that the decoder fails on"), || self.inner.skip_next_page())
    }

    fn at_record_boundary(&mut self) -> Result<bool> {
        decoding(|| bad("bytes that the decoder fails on"), || self.inner.at_record_boundary())
    }
}

impl Iterator for CheckedPages {
    type Item = Result<Page>;

    fn next(&mut self) -> Option<Self::Item> {
        self.get_next_page().transpose()
    }
}

impl Drop for CheckedPages {
    fn drop(&mut self) {
        self.budget.give_back(self.taken);
    }
}
