//! A column of numbers, one a row, as single tokens have them in the long layout. The Arrow reader clears the room for
//! every batch before it fills it and copies every dictionary twice; here it is read where it lies.

use std::marker::PhantomData;
use std::sync::Arc;

use arrow_array::types::{ArrowPrimitiveType, Float32Type, Float64Type, Int32Type, Int64Type};
use arrow_array::{ArrayRef, PrimitiveArray};
use arrow_buffer::NullBufferBuilder;
use arrow_schema::{DataType, Field, FieldRef};
use bytes::Bytes;
use parquet::basic::Type;
use parquet::column::page::Page;
use parquet::errors::Result;

use crate::parquet::row_groups::CheckedRowGroups;
use crate::parquet::run_length::chunk_pages::{ChunkPages, Next};
use crate::parquet::run_length::page::{Number, Numbers, OpenPage};
use crate::parquet::run_length::{EMPTY_ROOM, Room, bad, is_readable};

/// A column of numbers that is read page by page, without the Arrow reader.
pub struct NumberColumn {
    /// Name and type of what it gives.
    pub field: FieldRef,
    rows: Box<dyn NextRows>,
}

impl NumberColumn {
    /// The column at the root of the schema with this name; `None` where it does not hold numbers stored as they are,
    /// or in an encoding that the Arrow reader is for.
    pub fn open(groups: &CheckedRowGroups, field: &Field) -> Option<Self> {
        let leaves = groups.metadata.file_metadata().schema_descr().columns();
        let leaf = leaves.iter().position(|c| c.path().parts() == [field.name().as_str()])?;
        let descriptor = &leaves[leaf];
        let flat = descriptor.max_rep_level() == 0 && descriptor.max_def_level() <= 1;
        let chunks = groups.chunks(leaf)?;
        (flat && chunks.iter().all(|(chunk, _)| is_readable(chunk))).then_some(())?;
        let pages = (ChunkPages::new(groups, chunks), descriptor.max_def_level() == 1);
        let rows: Box<dyn NextRows> = match (descriptor.physical_type(), field.data_type()) {
            (Type::INT32, DataType::Int32) => Typed::<Int32Type>::of(pages),
            (Type::INT64, DataType::Int64) => Typed::<Int64Type>::of(pages),
            (Type::FLOAT, DataType::Float32) => Typed::<Float32Type>::of(pages),
            (Type::DOUBLE, DataType::Float64) => Typed::<Float64Type>::of(pages),
            _ => return None,
        };
        Some(Self { field: Arc::new(field.clone().with_nullable(true)), rows })
    }

    /// The next `rows` rows.
    pub fn next_rows(&mut self, rows: usize) -> Result<ArrayRef> {
        self.rows.next_rows(rows)
    }
}

trait NextRows {
    fn next_rows(&mut self, rows: usize) -> Result<ArrayRef>;
}

/// A column of one type.
struct Typed<A: ArrowPrimitiveType> {
    pages: ChunkPages,
    nullable: bool,
    dictionary: Bytes,
    page: Option<OpenPage>,
    room: Box<Room>,
    of: PhantomData<A>,
}

impl<A: ArrowPrimitiveType> Typed<A>
where
    A::Native: Number,
{
    fn of((pages, nullable): (ChunkPages, bool)) -> Box<dyn NextRows> {
        Box::new(Self {
            pages,
            nullable,
            dictionary: Bytes::new(),
            page: None,
            room: Box::new(EMPTY_ROOM),
            of: PhantomData,
        })
    }

    fn next_page(&mut self) -> Result<()> {
        let width = size_of::<A::Native>();
        self.page = None;
        match self.pages.next()? {
            Next::Chunk => self.dictionary = Bytes::new(),
            Next::Page(Page::DictionaryPage { buf, num_values, .. }) if self.dictionary.is_empty() => {
                let size = (num_values as usize).checked_mul(width).filter(|size| *size <= buf.len());
                self.dictionary = buf.slice(..size.ok_or_else(|| bad("a dictionary that is cut off"))?);
            }
            Next::Page(page) => self.page = Some(OpenPage::open(page, width, self.nullable)?),
        }
        Ok(())
    }
}

impl<A: ArrowPrimitiveType> NextRows for Typed<A>
where
    A::Native: Number,
{
    fn next_rows(&mut self, rows: usize) -> Result<ArrayRef> {
        let mut numbers = Numbers { values: Vec::with_capacity(rows), valid: NullBufferBuilder::new(rows) };
        while numbers.values.len() < rows {
            match self.page.as_mut().filter(|page| page.rows > 0) {
                Some(page) => {
                    let dictionary = A::Native::stored(&self.dictionary);
                    page.read(rows - numbers.values.len(), dictionary, &mut numbers, &mut self.room)?;
                }
                None => self.next_page()?,
            }
        }
        let Numbers { values, mut valid } = numbers;
        Ok(Arc::new(PrimitiveArray::<A>::try_new(values.into(), valid.finish())?))
    }
}

#[cfg(test)]
mod tests;
